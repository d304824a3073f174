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
-- Removes the side records of a body.
local function forget_sides(id)
  forget_runs(id)
  drop('errors', id)
  drop('checkpoints', id)
end

-- Ends a job for good. `how` is a letter of the ended record (f finished, c cancelled, r replaced, x deleted).
local function end_job(id, how, line, result, at_head)
  if line then keep_history(id, how, line, result) end
  remember(id, how)
  leave_name(id, at_head)
  forget_sides(id)
  call('HDEL', key('body'), id)
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
  call('HDEL', key('body'), oldest)
  forget_sides(oldest)
  remember(oldest, 'x')
  count('dead_trimmed')
end

-- Sets a job aside as dead and frees its name.
local function die(id, fragment, attempt, worker, duration, error)
  local line = event('dead', id, fragment, attempt, worker, duration, error)
  count('dead')
  -- Trims first: after the clock was put back, the new job would look like the oldest.
  trim_dead()
  call('ZADD', key('dead'), nowtext, id)
  keep_error(id, line)
  leave_name(id)
  drop('stops', id)
end

-- Handles an entry of a ready list or a due set without a body: invalid, unless its job has just ended.
local function bury(id, reason)
  if call('ZSCORE', key('dead'), id) then return count('strays') end
  local made = call('HSETNX', key('body'), id, '') == 1
  if made and (field('ended', id) or field('ended:old', id)) then
    call('HDEL', key('body'), id)
    return count('strays')
  end
  die(id, NAMELESS, 0, 'null', 0, reason or '"its body is missing"')
end

-- Writes the gathered changes. Every script that changes jobs ends with it.
local function settle()
  flush_ended()
  trim_history()
  publish()
  add_totals()
  wake(fresh)
end
