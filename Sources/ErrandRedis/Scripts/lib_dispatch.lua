-- Direct dispatch. A dispatchable session has stored how long a claim of its next call may take. If the pushed job is
-- the only ready one, it goes to that session at once, as if the session had made this call now. The wake-up carries
-- the job; if it is lost, the session gets the job with its call. A session without a connection, or without a
-- heartbeat for half a lease, gets no job this way, because the job would wait until that lease ends. Neither does a
-- session that lacks the operation.
local LARGEST_DISPATCHED = 16384

-- Whether no jobs wait in other lists than the one of this priority.
local function is_only_list(level)
  local others = { key('quarantined'), key('unroutable'), key('backlog') }
  for other = 0, 9 do
    if tostring(other) ~= level then others[#others + 1] = key('ready:' .. other) end
  end
  return call('EXISTS', unpack(others)) == 0
end

-- Dispatches a job to a session, whose lease ends at the given time, if `is_alone` says that no other job is ready. Returns
-- whether it did, or nil if no connection of the session listens.
local function dispatch_job(id, body, level, timeout, operation, session, lease_ends, is_alone)
  local me, mine = session_key(session), claims_key(session)
  local state = redis.pcall('HMGET', me, 'call', 'dispatch', 'lease', 'secret', 'op:' .. (operation or ''))
  local margin, default = string.match(not state.err and state[5] and state[2] or '', '^(%d+):(%d+)$')
  -- If more time is left than the lease is long, the clock was set back, and the claim's deadline would pass too soon.
  local left, lease = lease_ends - now, num(state[3])
  if not margin or 2 * left < lease or left > lease or #body - #stamp > LARGEST_DISPATCHED or not is_alone() then return false end
  local runtime = call('HMGET', key('runtime'), 'token', 'quarantine_owner')
  if runtime[2] or type(redis.pcall('HLEN', mine)) == 'table' then return false end

  local token = whole(math.max(clock[1] * 1000000 + clock[2], num(runtime[1]) + 1))
  local deadline = hard_deadline(timeout, num(margin), num(default))
  local message = 'c' .. (state[4] or '') .. ' ' .. whole(num(state[1]) + 1) .. ' ' .. token .. ' ' .. id .. '\n' .. body
  if call(PUBLISH, key('wakeups:' .. session), message) == 0 then return nil end
  call('LPOP', key('ready:' .. level))
  call('HSET', mine, id, claim_text(token, deadline))
  call('HSET', key('runtime'), 'token', token)
  call('HSET', me, 'dispatch', 'h' .. token)
  return true
end
