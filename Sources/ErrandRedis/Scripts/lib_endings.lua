-- How jobs end.
local DEAD_KEPT = 100000

-- Attempts and crash counts begin anew.
local function forget_runs(id)
  drop('failures', id)
  drop('crashes', id)
  drop('solo_crashes', id)
  drop('stops', id)
  drop('progress', id)
end
-- Removes what is kept beside a body.
local function forget_sides(id)
  forget_runs(id)
  drop('errors', id)
  drop('checkpoints', id)
end

-- Ends a job for good: `how` is a letter of the ended record (f finished, c cancelled, r replaced, x deleted).
local function end_job(id, how, line, result, at_head)
  if line then keep_history(id, how, line, result) end
  remember(id, how)
  leave_name(id, at_head)
  forget_sides(id)
  call('HDEL', key('body'), id)
end

-- Ends a job whose claim is over and whose successor waits. Answers whether there was one. It comes to the head of its line where the job
-- itself would have come back there; otherwise who is replaced again and again would never run in a line that is long.
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
  call('HDEL', key('body'), oldest)
  forget_sides(oldest)
  remember(oldest, 'x')
  count('dead_trimmed')
end

-- Sets a job aside for a person. Its name is free from now on.
local function die(id, fragment, attempt, worker, duration, error)
  local line = event('dead', id, fragment, attempt, worker, duration, error)
  count('dead')
  -- First, for a clock that was put back makes the new one look the oldest.
  trim_dead()
  call('ZADD', key('dead'), nowtext, id)
  keep_error(id, line)
  leave_name(id)
  drop('stops', id)
end

-- A member of a line or a due set without a body: garbage, unless its job has just ended.
local function bury(id, reason)
  if call('ZSCORE', key('dead'), id) then return count('strays') end
  local made = call('HSETNX', key('body'), id, '') == 1
  if made and (field('ended', id) or field('ended:old', id)) then
    call('HDEL', key('body'), id)
    return count('strays')
  end
  die(id, NAMELESS, 0, 'null', 0, reason or '"its body is missing"')
end

-- Writes what the script gathered. Every script that changes jobs ends with it.
local function settle()
  flush_ended()
  trim_history()
  publish()
  add_totals()
  wake(fresh)
end
