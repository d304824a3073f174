-- exchange: takes reports of ended runs and makes new claims, in one step.
--
-- Arguments  session, call number, wanted, free slots, begun token, wait + grace (ms), wait + grace + longest default
--            timeout (ms), largest number of bytes, 1 if a push may answer the next call when this one finds nothing,
--            number of portions, then the reports in portions:
--            0 and nine values: id, token, verb, attempt, duration (ms), fragment, error (JSON), result, retry delay
--            (ms; '' for none)
--            n > 0, for n finished jobs that are alike: token, fragment, attempt, the ids, the durations (ms)
-- Reply      outcomes ('1' accepted, '0' stale), token of the claims, ids, bodies, extras (position, failures, crashes,
--            …), flags (1 due jobs wait, 2 paused, 4 no jobs were found so far, and a repetition may find some, 8 the
--            call is pre-answered, and its reports were not taken, 16 jobs wait that are only claimed for a free slot,
--            32 a promotion has something to do at once), and only if there are any: id and fragment of each job
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
  if #ids > 0 then notice_outage() end
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
if num(call_number) < num(last_call) then return redis.error_reply('ERRAND this call is older than the last one, so it is ignored') end

if #asked > 0 then apply_reports() end
-- What comes after the jobs that have ended can be claimed by this call.
if next(workflows.changed) then workflows.continue() end
if not is_plain then known = {} end

if wanted > 0 and num(field('settings', 'paused')) == 1 then
  flags, waits = 2, true
elseif wanted > 0 then
  local most = most_of_call()
  -- The end of a job costs more if others may come after it, so fewer of them are to end in one call.
  if has('workflow:of') then most = math.min(most, 100) end
  -- Sessions that wait get what comes after a job, instead of the local queue of the one that ended it.
  if workflows.freed > 0 and free_slots > 0 and call('EXISTS', key('idle')) == 1 then most = math.min(most, free_slots) end
  if most > 0 then take_claims(most) end
  if #ids > 0 then keep_claims() else found_nothing() end
  -- Jobs that were found expired may have let others go on, for which this session asks again.
  if waits and next(workflows.changed) and workflows.frees() then waits, flags = false, flags + 4 end
end

local begun = begun_token
if token ~= '' and free_slots > 0 then begun = num(token) end
local outcome_text = table.concat(outcomes)
keep_call(me, call_number, token, outcome_text, begun, dispatch_terms)
-- Another session may have the free slot that this one lacks.
if passed_over > 0 then
  flags = flags + 16
  fresh = fresh + 1
end
if rates.begins_earlier or workflows.is_busy and workflows.has_more() then flags = flags + 32 end
-- A session that finds nothing is not woken for the jobs that this call itself makes ready: other sessions get them.
if waits and fresh > 0 then call('SREM', key('idle'), session) end
flush()
if waits then call('SADD', key('idle'), session) end
return { outcome_text, token, ids, bodies, extras, flags, expired }
