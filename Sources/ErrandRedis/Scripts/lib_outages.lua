-- The grace after an outage.

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
