-- How jobs end.
local DEAD_KEPT = 100000

-- The side records of a job. The first five are those of its runs.
local SIDE_RECORDS = { 'failures', 'crashes', 'solo_crashes', 'stops', 'progress', 'errors', 'checkpoints' }

-- Attempts and crash counts start again.
local function forget_runs(id)
  for i = 1, 5 do delete_field(SIDE_RECORDS[i], id) end
end
-- Removes the side records of these jobs.
local function forget_side_records(ids)
  if has('blocked') then
    for _, id in ipairs(ids) do groups.unblock(id) end
  end
  for _, name in ipairs(SIDE_RECORDS) do
    if has(name) then each_portion(ids, 1000, 'HDEL', key(name)) end
  end
end

-- Ends a job for good. `how` is a letter of the ended record (f finished, c cancelled, r replaced, x deleted).
local function end_job(id, how, line, result, at_head)
  local successor = how == 'r' and successor_of(id)
  if line then keep_history(id, how, line, result) end
  remember(id, how)
  free_name(id, at_head)
  forget_side_records({ id })
  call('HDEL', key('body'), id)
  if has('workflow:of') then workflows.ended(id, how, result, successor) end
end

-- Ends a job whose claim is over, if a successor waits, and returns whether one did. With `at_head`, the successor goes
-- to the head of its ready list, because the ended job would have returned there. Otherwise a job that is replaced
-- again and again would never run in a long list.
local function superseded(id, fragment, attempt, worker, line, at_head)
  if not successor_of(id) then return false end
  event('replaced', id, fragment, attempt, worker, 0, 'null')
  count('replaced')
  end_job(id, 'r', line, nil, at_head)
  return true
end

local function trim_dead()
  if call('ZCARD', key('dead')) < DEAD_KEPT then return end
  local oldest = call('ZPOPMIN', key('dead'))[1]
  forget_side_records({ oldest })
  call('HDEL', key('body'), oldest)
  remember(oldest, 'x')
  if has('workflow:of') then workflows.ended(oldest, 'x') end
  count('dead_trimmed')
end

-- Sets a job aside as dead and frees its name.
local function die(id, fragment, attempt, worker, duration, error)
  local line = event('dead', id, fragment, attempt, worker, duration, error)
  count('dead')
  -- Trims first: after the clock was set back, the new job would look like the oldest.
  trim_dead()
  call('ZADD', key('dead'), nowtext, id)
  keep_error(id, line)
  free_name(id)
  delete_field('stops', id)
  if has('workflow:of') then workflows.died(id) end
  local _, _, _, _, _, _, group = header(has('blocked') and call('HGET', key('body'), id))
  if group and rule_of(group).skips_dead then groups.unblock(id) end
end

-- Handles an entry of a ready list or a due set without a body: invalid, unless its job has just ended.
local function handle_stray(id, reason)
  if call('ZSCORE', key('dead'), id) then return count('strays') end
  local made = call('HSETNX', key('body'), id, '') == 1
  if made and (field('ended', id) or field('ended:old', id)) then
    call('HDEL', key('body'), id)
    return count('strays')
  end
  die(id, NAMELESS, 0, 'null', 0, reason or '"the stored job is missing; push it again"')
end

-- Writes the gathered changes. Every script that changes jobs ends with it.
local function flush()
  if next(workflows.changed) then workflows.continue() end
  flush_ended()
  trim_history()
  if rates.has_started then rates.forget() end
  publish()
  add_totals()
  wake(fresh)
end
