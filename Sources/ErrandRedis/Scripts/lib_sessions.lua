-- The end of sessions, and what they held.

-- The longest lease applies while a session has it. A grace that was granted for a longer lease ends with a shorter
-- one.
local function forget_lease(lease)
  local runtime, longest = call('HMGET', key('runtime'), 'lease', 'grace'), 0
  if lease < num(runtime[1]) then return end
  for _, other in ipairs(call('ZREVRANGE', key('sessions'), 0, 999)) do
    if call('TYPE', session_key(other)).ok == 'hash' then
      longest = math.max(longest, num(call('HGET', session_key(other), 'lease')))
    end
    if longest >= lease then return end
  end
  if longest == 0 then return end
  call('HSET', key('runtime'), 'lease', whole(longest))
  local grace = num(runtime[2])
  if grace > now + longest and grace <= now + lease then call('HSET', key('runtime'), 'grace', whole(now + longest)) end
end

local function end_session(session)
  local lease = num(call('HGET', session_key(session), 'lease'))
  call('ZREM', key('sessions'), session)
  forget_lease(lease)
  call('DEL', session_key(session))
  call('SREM', key('idle'), session)
  if call('HGET', key('runtime'), 'quarantine_owner') == session then call('HDEL', key('runtime'), 'quarantine_owner') end
end

-- Sorts claims, in the form of HGETALL, from the newest to the oldest: the first job returns last, so that it is at the
-- head again. A small hash keeps its fields in the order of insertion; if the hash is or was larger, the ids decide.
local function newest_first(claims, session)
  local sorted, flat = {}, {}
  local me, keeps_order = session_key(session), #claims <= 256
  if not keeps_order then call('HSET', me, 'unordered', 1)
  elseif call('HGET', me, 'unordered') then keeps_order = false end
  for i = 1, #claims, 2 do
    sorted[#sorted + 1] = { claims[i], num(string.match(claims[i + 1], '^(%d+):')), claims[i + 1], i }
  end
  table.sort(sorted, function(a, b)
    if a[2] ~= b[2] then return a[2] > b[2] end
    if keeps_order then return a[4] > b[4] end
    return a[1] > b[1]
  end)
  for _, claim in ipairs(sorted) do
    flat[#flat + 1] = claim[1]
    flat[#flat + 1] = claim[3]
  end
  return flat
end
