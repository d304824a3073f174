-- recover: recovers the claims of a dead session, or claims of a live one that are past their hard deadline.
--
-- Reply      how many jobs it recovered, 1 if there is more to do at once, the `recovered` events of jobs that continue
--            (the first 64 KiB of them)
local MOST_SOLO_CRASHES, EVENT_BYTES = 4, 65536
local reply, event_bytes = { 0, 0 }, 0
-- The default retry delays in milliseconds: those of `RetryDelays` in Sources/Errand/Retry/RetryDelays.swift.
local RETRY_BASE, RETRY_LONGEST = 15000, 3600000
-- A session with corrupt keys needs the doctor; it must not prevent the recovery of other sessions.
local dead
for _, session in ipairs(call('ZRANGEBYSCORE', key('sessions'), '-inf', nowtext, 'LIMIT', 0, 20)) do
  dead = dead or (not session_type_error(session) and session)
end
local live = not dead and call('ZRANDMEMBER', key('sessions'))
if live and num(call('ZSCORE', key('sessions'), live)) <= now then live = nil end
local wrong = live and session_type_error(live)
if wrong then return wrong end

local runtime = call('HMGET', key('runtime'), 'grace', 'beat', 'lease', 'gap', 'leap')
local longest, leap = num(runtime[3]), num(runtime[5])
-- This may be the first call after an outage: then it grants the grace that a heartbeat would grant. Until a session
-- sends a heartbeat, `gap` stores the time of the last call; if that is long ago as well, there was another outage.
if runtime[2] and math.abs(now - num(runtime[4] or runtime[2])) > longest / 2 then
  grant_grace(longest, 'gap', nowtext)
  return { 0, 0 }
end
if runtime[4] then call('HSET', key('runtime'), 'gap', nowtext) end
-- A grace is never longer than a lease, even if the clock was set back.
if num(runtime[1]) > now and num(runtime[1]) <= now + longest then return { 0, 0 } end

local function crashed(id, fragment, attempt, worker, line, alone)
  local crashes = num(field('crashes', id)) + 1
  set_field('crashes', id, crashes)
  history.keep_error(id, line)
  if alone then
    local times = num(field('solo_crashes', id)) + 1
    set_field('solo_crashes', id, times)
    if times >= MOST_SOLO_CRASHES then
      endings.die(id, fragment, attempt, worker, 0, '"its worker died ' .. crashes .. ' times while running it, ' .. times .. ' of them without another job: look for a crash or a lack of memory in its handler"')
      return true
    end
  end
end

local function report(line)
  event_bytes = event_bytes + #line
  if event_bytes <= EVENT_BYTES then reply[#reply + 1] = line end
end

local function recover_claims(session, claims, mine)
  local begun = num(call('HGET', session_key(session), 'begun'))
  local alone = call('HGET', key('runtime'), 'quarantine_owner') == session and #claims == 2
  local recovered = {}
  for i = 1, #claims, 2 do
    if room <= 0 then break end
    local id, token = claims[i], num(string.match(claims[i + 1], '^(%d+):'))
    free_slot(id, claims[i + 1])
    local body, fragment, attempt, worker, line = endings.end_claim(id, session, 'recovered')
    if body then
      report(line)
      local is_solo = alone and num(field('crashes', id)) >= QUARANTINE_AFTER
      -- The first time, the job may only have waited in the dead session; but a job that crashes its worker at once
      -- must be detected as well.
      local counts = token <= begun or field('crashes', id)
      if not counts then set_field('crashes', id, 0) end
      if not (counts and crashed(id, fragment, attempt, worker, line, is_solo)) then moves.requeue(id, body) end
    end
    recovered[#recovered + 1] = id
  end
  each_portion(recovered, 1000, 'HDEL', mine)
  return #recovered
end

local function some_claims(mine)
  if call('HLEN', mine) <= 400 then return call('HGETALL', mine) end
  local flat = {}
  for _, pair in ipairs({ call('HRANDFIELD', mine, 200, 'WITHVALUES') }) do
    for _, value in ipairs(pair) do flat[#flat + 1] = value end
  end
  return flat
end

-- The retries of a job whose worker did not report an outcome: those of the job, or else the session's default.
local function retries_of(session, body, fragment)
  local _, _, retries = header(body)
  if retries then return retries end
  local operation = string.match(fragment, '^"operation":"([%w_.-]+)"')
  local defaults = operation and call('HGET', session_key(session), 'op:' .. operation)
  return num(string.match(defaults or '', ':(%d+)$'))
end

-- A job that a push has dispatched, and that has not reached its worker, cannot have crashed or blocked that worker.
local function release_undelivered(session, id, claim, mine)
  local token = string.match(claim, '^(%d+):') or ''
  local me = call('HMGET', session_key(session), 'dispatch', 'begun')
  if me[1] ~= 'h' .. token or num(token) <= num(me[2]) then return false end
  free_slot(id, claim, true)
  local body = endings.end_claim(id, session, 'released')
  if body then moves.requeue(id, body) end
  call('HDEL', mine, id)
  return true
end

local function end_overdue(session, id, claim, mine)
  free_slot(id, claim)
  local body = call('HGET', key('body'), id)
  if body then
    room = room - #body
    local _, _, _, fragment = header(body)
    fragment = fragment or NAMELESS
    local attempt, worker = num(field('failures', id)) + 1, '"' .. printable(session) .. '"'
    local failure = '"the worker has not reported the end of the run long after its timeout: the handler does not return, or the worker is stuck"'
    local line = event('timed_out', id, fragment, attempt, worker, 0, failure)
    count('timed_out')
    if field('stops', id) == 'cancel' and not successor_of(id) then
      endings.end_job(id, 'c', line)
    elseif not endings.superseded(id, fragment, attempt, worker, line) then
      set_field('failures', id, attempt)
      -- The default delay without jitter: the header contains no delay of the job or its worker.
      if attempt <= retries_of(session, body, fragment) then
        call('ZADD', key('retrying'), whole(now + math.min(RETRY_BASE * 2 ^ (attempt - 1), RETRY_LONGEST)), id)
        history.keep_error(id, line)
        delete_field('running', id)
        event('retrying', id, fragment, attempt, worker, 0, 'null')
        count('retried')
      else
        endings.die(id, fragment, attempt, worker, 0, failure)
      end
    end
  end
  call('HDEL', mine, id)
end

-- A claim that was made before an outage or a jump of the clock gets its full time again.
local function is_overdue(claim)
  local token, deadline, made = string.match(claim, '^(%d+):(%d+):?(%d*)')
  if not token then return true end
  local at, ends = made ~= '' and num(made) or math.floor(num(token) / 1000), num(deadline)
  if at < leap then ends = math.max(ends, leap + ends - at) end
  return ends < now
end

if dead then
  local mine = claims_key(dead)
  reply[1] = recover_claims(dead, newest_first(some_claims(mine), dead), mine)
  if call('EXISTS', mine) == 0 then end_session(dead) end
  reply[2] = 1
elseif live then
  local mine = claims_key(live)
  local claims = some_claims(mine)
  for i = 1, #claims, 2 do
    if room <= 0 then break end
    if is_overdue(claims[i + 1]) then
      if not release_undelivered(live, claims[i], claims[i + 1], mine) then end_overdue(live, claims[i], claims[i + 1], mine) end
      reply[1] = reply[1] + 1
    end
  end
end
flush()
return reply
