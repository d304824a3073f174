-- The call of a session that has nothing to report and finds nothing: the most common one of workers with little to do, so
-- it comes before everything that other calls need. A call that meets anything else, such as a wrong type of a key that it
-- looks at, goes on with the whole exchange.

-- Stores what a call has answered, and what a push needs in order to dispatch a job in answer to the next one.
local function keep_call(me, call_number, token, outcomes, begun, dispatch_terms)
  call('HSET', me, 'call', call_number, 'token', token, 'outcomes', outcomes, 'begun', whole(begun), 'dispatch', dispatch_terms)
end
local function dispatch_terms_of(margin, default) return whole(margin) .. ':' .. whole(default) end
local function first_due(name, time) return redis.pcall('ZRANGEBYSCORE', key(name), '-inf', time, 'LIMIT', 0, 1) end

do
  -- The last call of a registered session, unless a job was dispatched since then or the queue has a quarantine owner.
  local function usual_call(me, call_number)
    local last = redis.pcall('HMGET', me, 'call', 'dispatch', 'token', 'outcomes', 'begun', 'lease')
    if last.err or not last[6] or call_number <= num(last[1]) or string.find(last[2] or '', '^h') then return nil end
    return not redis.pcall('HGET', key('runtime'), 'quarantine_owner') and last
  end
  -- Whether no job can be claimed, and whether one is due. If there are rules, the whole exchange looks at them.
  local function has_none()
    local ready, settings, scheduled, retrying = Q .. ':ready:', key('settings'), key('scheduled'), key('retrying')
    local found = call('EXISTS', ready .. 5, ready .. 0, ready .. 1, ready .. 2, ready .. 3, ready .. 4, ready .. 6, ready .. 7, ready .. 8, ready .. 9,
      key('quarantined'), key('unroutable'), key('backlog'), key('flow'), key('resting'), settings, scheduled, retrying)
    if found == 0 then return true end
    local timed = call('EXISTS', scheduled, retrying)
    if found > timed then
      local paused = redis.pcall('HGET', settings, 'paused')
      if found > timed + call('EXISTS', settings) or (paused and paused ~= '0') then return false end
    end
    if timed == 0 then return true end
    local time = whole((read_clock()))
    local first, second = first_due('scheduled', time), first_due('retrying', time)
    return not (first.err or second.err), first[1] or second[1]
  end
  -- Keeps the call. Usually only its number differs from that of the last one.
  local function keep(me, call_number, last)
    local is_same = last[3] == '' and last[4] == '' and last[5] == ARGV[5]
    if is_same and last[2] == (ARGV[9] == '1' and ARGV[6] .. ':' .. ARGV[7] or '') then return call('HSET', me, 'call', call_number) end
    keep_call(me, call_number, '', '', num(ARGV[5]), ARGV[9] == '1' and dispatch_terms_of(num(ARGV[6]), num(ARGV[7])) or '')
  end
  local function find_nothing(session, call_number)
    local me = session_key(session)
    local last = usual_call(me, num(call_number))
    if not last then return end
    local is_empty, is_due = has_none()
    if not is_empty then return end
    local waits = redis.pcall('SISMEMBER', key('idle'), session)
    if type(waits) == 'table' then return end
    if waits == 0 then call('SADD', key('idle'), session) end
    keep(me, call_number, last)
    return { '', '', {}, {}, {}, is_due and 1 or 0 }
  end
  local reply = num(ARGV[3]) > 0 and num(ARGV[10]) == 0 and find_nothing(ARGV[1], ARGV[2])
  if reply then return reply end
end
