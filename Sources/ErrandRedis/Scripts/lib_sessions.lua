-- Sessions, leases and the grace after an outage.

-- If no session has sent a heartbeat for half a lease, the broker or the network was away, or the clock was set
-- forward, and every lease has ended. No worker may lose its jobs for that, so recovery waits until the sessions have
-- had time to return. If the clock was set back instead, leases would last too long.
local function grant_grace(longest, noted_as, at)
  for _, session in ipairs(call('ZRANGEBYSCORE', key('sessions'), '(' .. whole(now + longest), '+inf', 'LIMIT', 0, 5000)) do
    call('ZADD', key('sessions'), whole(now + longest), session)
  end
  call('HSET', key('runtime'), 'grace', whole(now + longest), 'leap', nowtext, noted_as, at)
  -- If the clock was set back, groups may rest for too long.
  if has('held_back') then call('HSET', key('runtime'), 'reconsider', '0') end
end

local function detect_outage(lease)
  local runtime = call('HMGET', key('runtime'), 'beat', 'lease', 'gap')
  local longest = math.max(lease, num(runtime[2]))
  if not runtime[1] then return end
  -- A gap that recovery has detected ends now, even if the clock has returned from it since.
  if not runtime[3] and math.abs(now - num(runtime[1])) <= longest / 2 then return end
  grant_grace(longest, 'beat', nowtext)
  -- A clock that was set back passes the same times again: the gap that recovery has detected was another one.
  call('HDEL', key('runtime'), 'gap')
end

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

-- Ends a claim that has no outcome of its own: `kind` is released or recovered. Returns the body if the job must go to
-- the head of its ready list.
local function end_claim(id, session, kind)
  local body = call('HGET', key('body'), id)
  if not body then return end
  room = room - #body
  local _, _, _, fragment = header(body)
  fragment = fragment or NAMELESS
  local attempt = num(field('failures', id)) + 1
  local stop = field('stops', id)
  local worker = '"' .. printable(session) .. '"'
  if stop and (stop == 'cancel' or not successor_of(id)) then
    count('cancelled')
    return end_job(id, 'c', event('cancelled', id, fragment, attempt, worker, 0, 'null'), nil, true)
  end
  local line = event(kind, id, fragment, attempt, worker, 0, 'null')
  count(kind)
  if superseded(id, fragment, attempt, worker, line, true) then return end
  return body, fragment, attempt, worker, line
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
