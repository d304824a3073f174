-- The call of a session that has nothing to report and finds nothing: the most common one of workers with little to do, so
-- it comes before everything that other calls need. A call that meets anything else, such as a wrong type of a key that it
-- looks at, goes on with the whole exchange.

-- Stores what a call has answered, and what a push needs in order to dispatch a job in answer to the next one.
local function keep_call(me, call_number, token, outcomes, begun, dispatch_terms)
  call('HSET', me, 'call', call_number, 'token', token, 'outcomes', outcomes, 'begun', whole(begun), 'dispatch', dispatch_terms)
end
local function dispatch_terms_of(margin, default) return whole(margin) .. ':' .. whole(default) end
local function first_due(name) return redis.pcall('ZRANGEBYSCORE', key(name), '-inf', nowtext, 'LIMIT', 0, 1) end

do
  -- Whether the session is as its last call has left it, with no dispatched job, and the sessions have sent heartbeats.
  local function is_usual(me, session, call_number)
    local state = redis.pcall('HMGET', me, 'call', 'dispatch')
    local runtime = redis.pcall('HMGET', key('runtime'), 'beat', 'lease', 'quarantine_owner', 'gap')
    if state.err or call_number <= num(state[1]) or string.find(state[2] or '', '^h') then return false end
    if runtime.err or not runtime[1] or runtime[3] or runtime[4] then return false end
    local last_seen = redis.pcall('ZSCORE', key('sessions'), session)
    return type(last_seen) == 'string' and math.abs(now - num(runtime[1])) <= num(runtime[2]) / 2
  end
  -- Whether no job can be claimed. If there are rules, the whole exchange looks at them.
  local function has_none()
    local ready = Q .. ':ready:'
    if call('EXISTS', ready .. 5, ready .. 0, ready .. 1, ready .. 2, ready .. 3, ready .. 4, ready .. 6, ready .. 7, ready .. 8, ready .. 9,
      key('quarantined'), key('unroutable'), key('backlog'), key('flow'), key('resting')) > 0 then return false end
    local paused = redis.pcall('HGET', key('settings'), 'paused')
    return paused == false or paused == '0'
  end
  local function find_nothing(session, call_number)
    local me = session_key(session)
    if not (is_usual(me, session, num(call_number)) and has_none()) then return end
    local scheduled, retrying, waits = {}, {}, redis.pcall('SISMEMBER', key('idle'), session)
    if call('EXISTS', key('scheduled'), key('retrying')) > 0 then scheduled, retrying = first_due('scheduled'), first_due('retrying') end
    if scheduled.err or retrying.err or type(waits) == 'table' then return end
    if waits == 0 then call('SADD', key('idle'), session) end
    keep_call(me, call_number, '', '', num(ARGV[5]), ARGV[9] == '1' and dispatch_terms_of(num(ARGV[6]), num(ARGV[7])) or '')
    return { '', '', {}, {}, {}, (scheduled[1] or retrying[1]) and 1 or 0 }
  end
  local wanted, portion_count = num(ARGV[3]), num(ARGV[10])
  local reply = wanted > 0 and portion_count == 0 and find_nothing(ARGV[1], ARGV[2])
  if reply then return reply end
end
