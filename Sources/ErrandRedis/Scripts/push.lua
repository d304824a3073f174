-- push: adds jobs to the queue, one after the other.
--
-- KEYS       errand:{queue} errand:{queue}:gate
-- Arguments  for each job five values: id, due (ms since 1970; 0 is now), policy, name ('' for none), envelope.
--            Policies: i ignore, d drop, r replace, k keep the latest (with D, R and K the name is free from the first
--            claim on), t:WINDOW throttle, B:WINDOW[:AT_MOST] debounce (ms)
-- Reply      first 1 if the queue was not known before (then: SADD errand:queues queue), else 0; then one text a job:
--            a accepted · e exists · f:GROUP refused, because this group has too many waiting jobs · d:HOLDER dropped ·
--            r:HOLDER replaced · n:HOLDER deferred. With a window, a colon and a time (ms since 1970) follow: until when
--            a throttle drops jobs, or when a debounced job is due (a::TIME for an accepted one)
--
-- Runs without allow-oom: a push is refused if the server's memory is full.
local COUNT = #ARGV / 5
if COUNT < 1 or COUNT > 1000 or COUNT ~= math.floor(COUNT) then
  return redis.error_reply('ERRAND push takes 1 to 1000 jobs of 5 values each')
end
local refused, waiting = refuse_jobs(1)
if refused then return refused end

local reply = { 0 }
if waiting == 0 and call('HLEN', key('counters')) == 0 then reply[1] = 1 end
refuses_jobs = true
push_jobs(1, reply)

-- Direct dispatch. A dispatchable session has stored how long a claim of its next call may take. If the pushed job is
-- the only ready one, it goes to that session at once, as if the session had made this call now. The wake-up carries
-- the job; if it is lost, the session gets the job with its call. A session without a connection, or without a
-- heartbeat for half a lease, gets no job this way, because the job would wait until that lease ends. Neither does a
-- session that lacks the operation.
local LARGEST_DISPATCHED = 16384
local function is_only_ready(level)
  if num(field('settings', 'starts')) == 1 then return false end
  local of_queue = special and has('flow') and rule_of(WHOLE_QUEUE) or {}
  if of_queue.at_once or of_queue.interval then return false end
  if special or level ~= '5' then
    local others = { key('quarantined'), key('unroutable'), key('backlog') }
    for other = 0, 9 do
      if tostring(other) ~= level then others[#others + 1] = key('ready:' .. other) end
    end
    if call('EXISTS', unpack(others)) > 0 then return false end
  end
  return call('LLEN', key('ready:' .. level)) == 1
end

local function dispatch_to(session, lease_ends)
  local id, envelope = ARGV[1], ARGV[5]
  local me, mine, level = session_key(session), claims_key(session), string.sub(envelope, 3, 3)
  local body = stamp .. envelope
  local _, timeout, _, fragment = header(body)
  local operation = string.match(fragment or '', '^"operation":"([%w_.-]+)"')
  local state = redis.pcall('HMGET', me, 'call', 'dispatch', 'lease', 'secret', 'op:' .. (operation or ''))
  local margin, default = string.match(not state.err and state[5] and state[2] or '', '^(%d+):(%d+)$')
  -- If more time is left than the lease is long, the clock was set back, and the claim's deadline would pass too soon.
  local left, lease = lease_ends - now, num(state[3])
  if not margin or 2 * left < lease or left > lease or #envelope > LARGEST_DISPATCHED or has_newer or not is_only_ready(level) then return false end
  local runtime = call('HMGET', key('runtime'), 'token', 'quarantine_owner')
  if runtime[2] or entry_of(id) ~= id or type(redis.pcall('HLEN', mine)) == 'table' then return false end

  local token = whole(math.max(clock[1] * 1000000 + clock[2], num(runtime[1]) + 1))
  local deadline = hard_deadline(timeout, num(margin), num(default))
  local message = 'c' .. (state[4] or '') .. ' ' .. whole(num(state[1]) + 1) .. ' ' .. token .. ' ' .. id .. '\n' .. body
  if call(PUBLISH, key('wakeups:' .. session), message) == 0 then return nil end
  call('LPOP', key('ready:' .. level))
  call('HSET', mine, id, claim_text(token, deadline))
  call('HSET', key('runtime'), 'token', token)
  call('HSET', me, 'dispatch', 'h' .. token)
  -- A capital letter: the job holds its name only until it starts, so the name is free now.
  if string.find(ARGV[3], '[DRK]') then free_name(id) elseif string.find(ARGV[3], '[drk]') then set_field('running', id, session) end
  return true
end
if COUNT == 1 and string.sub(reply[2], 1, 1) == 'a' and fresh == 1 then dispatch = dispatch_to end

flush()
return reply
