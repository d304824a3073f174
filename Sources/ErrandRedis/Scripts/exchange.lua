-- exchange: takes reports of ended runs and makes new claims, in one step.
--
-- Arguments  session, call number, wanted, free slots, begun token, wait + grace (ms), wait + grace + longest default
--            timeout (ms), largest number of bytes, 1 if a push may answer the next call when this one finds nothing,
--            number of portions, then the reports in portions:
--            0 and nine values: id, token, verb, attempt, duration (ms), fragment, error (JSON), result, retry delay
--            (ms; '' for none)
--            n > 0, for n finished jobs that are alike: token, fragment, attempt, the ids, the durations (ms)
-- Reply      outcomes ('1' accepted, '0' stale), token of the claims, ids, bodies, extras (position, failures, crashes,
--            …), flags (1 due jobs wait, 2 paused, 4 only tombstones were found so far, and jobs may follow them, 8 the
--            call is pre-answered, and its reports were not taken, 16 jobs wait that are only claimed for a free slot,
--            32 a group rests that may run before any other), and only if there are any: id and fragment of each job
--            that was found expired
local last = call('HMGET', me, 'call', 'token', 'outcomes', 'dispatch')
local last_call, last_token, last_outcomes = last[1], last[2], last[3]

-- A push has answered this call with a job: the call counts as the last one from now on.
local dispatched = string.match(last[4] or '', '^h(%d+)$')
if dispatched and num(call_number) == num(last_call) + 1 then
  last_call, last_token, last_outcomes = call_number, dispatched, 'h'
  call('HSET', me, 'call', call_number, 'token', dispatched, 'outcomes', 'h', 'dispatch', '')
  if free_slots > 0 then call('HSET', me, 'begun', dispatched) end
end

-- The reply to a repeated call: the outcomes of the first time, and the claims of that time that are still held.
local function reply_again()
  if last_token and last_token ~= '' then
    local held = call('HGETALL', mine)
    for i = 1, #held, 2 do
      if string.sub(held[i + 1], 1, #last_token + 1) == last_token .. ':' then
        add_job(held[i], call('HGET', key('body'), held[i]) or '')
      end
    end
  end
  add_extras()
  -- A session that waits for a wake-up, and has had none yet, keeps waiting. Otherwise each reply that a bad network
  -- loses would cost another look at the lists.
  local waits = #ids > 0 or wanted == 0 or call('SISMEMBER', key('idle'), session) == 1
  local is_dispatched = last_outcomes == 'h'
  return {
    is_dispatched and '' or last_outcomes or '', last_token or '', ids, bodies, extras,
    (waits and 0 or 4) + (is_dispatched and 8 or 0)
  }
end
if last_call == call_number then return reply_again() end

-- A broken connection has delayed this call while later ones arrived. No worker waits for its reply any more.
if num(call_number) < num(last_call) then return redis.error_reply('ERRAND this call is older than the last one') end

if #asked > 0 then apply_reports() end
if not is_plain then known = {} end

-- What a push needs in order to dispatch a job in answer to the next call.
local dispatch_terms = ''
local waits = false

local take_claims, keep_claims, found_nothing, most_of_call
do
  -- Whether jobs may wait, apart from those that are ready at the usual priority.
  local function has_others()
    return call('EXISTS', key('ready:0'), key('ready:1'), key('ready:2'), key('ready:3'), key('ready:4'), key('ready:6'),
      key('ready:7'), key('ready:8'), key('ready:9'), key('quarantined'), key('unroutable'), key('backlog')) > 0
  end

  -- Claims up to `most` jobs.
  function take_claims(most)
    token = whole(math.max(clock[1] * 1000000 + clock[2], num(runtime[1]) + 1))
    default_claim = claim_text(token, hard_deadline(nil, claim_margin, default_duration))
    if (is_plain or not has_others()) and not runtime[4] then
      take(key('ready:5'), most)
    elseif not own_quarantine() then
      take_levels(most)
      if found_quarantined and not is_first_held_back() then
        call('HSET', key('runtime'), 'quarantine_owner', session)
        if #ids == 0 and call('HLEN', mine) == 0 then take(key('quarantined'), 1) end
      end
    end
  end

  -- Whether the queue has rules or groups that rest. Those whose rest is over may run again.
  local function uses_flow()
    if is_plain or call('EXISTS', key('flow'), key('resting')) == 0 then
      known.flow, known.resting = false, false
      return false
    end
    return_rested(100)
    return true
  end

  -- How many jobs the rule of the whole queue lets a session claim; the queue is full or rests if it is none. Then the end
  -- of a claim or of the rest wakes a session.
  local function free_of_queue()
    local rule = rule_of(WHOLE_QUEUE)
    if not rule.at_once and not rule.interval then return wanted end
    local most = rates.free(WHOLE_QUEUE)
    if rule.at_once then most = math.min(most, rule.at_once - count_claims()) end
    if most <= 0 then
      note_rest(WHOLE_QUEUE)
      call('HSET', key('runtime'), 'held_back', 1)
    end
    return most, true
  end
  -- How many jobs this call claims: none of a queue with a rule are claimed ahead.
  local function most_of_queue()
    local most, is_limited = free_of_queue()
    if not is_limited then return wanted end
    if most > 0 and free_slots == 0 and (has_others() or call('EXISTS', key('ready:5')) == 1) then passed_over = 1 end
    return math.min(most, wanted, free_slots)
  end

  function keep_claims()
    each_portion(claims, 1000, 'HSET', mine)
    rates.start(WHOLE_QUEUE, #ids)
    if has('flow') then free_of_queue() end
    call('HSET', key('runtime'), 'token', token)
    if has('idle') then call('SREM', key('idle'), session) end
    if has('unique:of') then
      local names = call('HMGET', key('unique:of'), unpack(ids))
      for i = 1, #ids do
        -- A capital letter: the job holds its name only until it starts, so the name is free now.
        local frees_name = names[i] and string.find(string.sub(bodies[i], 15, 15), '[DRKB]')
        if frees_name then free_name(ids[i]) elseif names[i] then set_field('running', ids[i], session) end
      end
    end
    add_extras()
    if not has('settings') or num(field('settings', 'starts')) ~= 1 then return end
    for i, id in ipairs(ids) do
      local _, _, _, fragment = header(bodies[i])
      event('started', id, fragment or NAMELESS, num(field('failures', id)) + 1, worker, 0, 'null')
    end
  end

  local function is_due(name) return call('ZRANGEBYSCORE', key(name), '-inf', nowtext, 'LIMIT', 0, 1)[1] end
  function found_nothing()
    token = ''
    if looked >= 2000 and skipped > 0 then flags = 4
    else
      waits = passed_over == 0
      if accepts_dispatch and waits then dispatch_terms = whole(claim_margin) .. ':' .. whole(default_duration) end
    end
    if is_due('scheduled') or is_due('retrying') then flags = flags + 1 end
  end

  -- How many jobs this call may claim.
  function most_of_call() return uses_flow() and most_of_queue() or wanted end
end

if wanted > 0 and num(field('settings', 'paused')) == 1 then
  flags, waits = 2, true
elseif wanted > 0 then
  local most = most_of_call()
  if most > 0 then take_claims(most) end
  if #ids > 0 then keep_claims() else found_nothing() end
end

local begun = begun_token
if token ~= '' and free_slots > 0 then begun = num(token) end
local outcome_text = table.concat(outcomes)
call('HSET', me, 'call', call_number, 'token', token, 'outcomes', outcome_text, 'begun', whole(begun), 'dispatch', dispatch_terms)
-- Another session may have the free slot that this one lacks.
if passed_over > 0 then
  flags = flags + 16
  fresh = fresh + 1
end
if rates.begins_earlier then flags = flags + 32 end
-- A session that finds nothing is not woken for the jobs that this call itself makes ready: other sessions get them.
if waits and fresh > 0 then call('SREM', key('idle'), session) end
flush()
if waits then call('SADD', key('idle'), session) end
return { outcome_text, token, ids, bodies, extras, flags, expired }
