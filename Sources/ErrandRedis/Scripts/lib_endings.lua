-- How jobs end.
local DEAD_KEPT = 100000
local endings = {}
on_use(endings, function()
  -- The side records of a job. The first five are those of its runs.
  local SIDE_RECORDS = { 'failures', 'crashes', 'solo_crashes', 'stops', 'progress', 'errors', 'checkpoints' }

  -- Attempts and crash counts start again.
  function endings.forget_runs(id)
    for i = 1, 5 do delete_field(SIDE_RECORDS[i], id) end
  end
  -- Removes the side records of these jobs.
  function endings.forget_side_records(ids)
    if has('blocked') then
      for _, id in ipairs(ids) do groups.unblock(id) end
    end
    for _, name in ipairs(SIDE_RECORDS) do
      if has(name) then each_portion(ids, 1000, 'HDEL', key(name)) end
    end
  end

  -- Ends a job for good. `how` is a letter of the ended record (f finished, c cancelled, r replaced, x deleted).
  function endings.end_job(id, how, line, result, at_head)
    local successor = how == 'r' and successor_of(id)
    if line then history.keep(id, how, line, result) end
    remember(id, how)
    free_name(id, at_head)
    endings.forget_side_records({ id })
    call('HDEL', key('body'), id)
    if has('workflow:of') then workflows.ended(id, how, result, successor) end
  end

  -- Ends a job whose claim is over, if a successor waits, and returns whether one did. With `at_head`, the successor goes
  -- to the head of its ready list, because the ended job would have returned there. Otherwise a job that is replaced
  -- again and again would never run in a long list.
  function endings.superseded(id, fragment, attempt, worker, line, at_head)
    if not successor_of(id) then return false end
    event('replaced', id, fragment, attempt, worker, 0, 'null')
    count('replaced')
    endings.end_job(id, 'r', line, nil, at_head)
    return true
  end

  local function trim_dead()
    if call('ZCARD', key('dead')) < DEAD_KEPT then return end
    local oldest = call('ZPOPMIN', key('dead'))[1]
    endings.forget_side_records({ oldest })
    call('HDEL', key('body'), oldest)
    remember(oldest, 'x')
    if has('workflow:of') then workflows.ended(oldest, 'x') end
    count('dead_trimmed')
  end

  -- Sets a job aside as dead and frees its name.
  function endings.die(id, fragment, attempt, worker, duration, error)
    local line = event('dead', id, fragment, attempt, worker, duration, error)
    count('dead')
    -- Trims first: after the clock was set back, the new job would look like the oldest.
    trim_dead()
    call('ZADD', key('dead'), nowtext, id)
    history.keep_error(id, line)
    free_name(id)
    delete_field('stops', id)
    if has('workflow:of') then workflows.died(id) end
    local _, _, _, _, _, _, group = header(has('blocked') and call('HGET', key('body'), id))
    if group and rule_of(group).skips_dead then groups.unblock(id) end
  end

  -- Handles an entry of a ready list or a due set without a body: invalid, unless its job has just ended.
  function endings.handle_stray(id, reason)
    if call('ZSCORE', key('dead'), id) then return count('strays') end
    local made = call('HSETNX', key('body'), id, '') == 1
    if made and (field('ended', id) or field('ended:old', id)) then
      call('HDEL', key('body'), id)
      return count('strays')
    end
    endings.die(id, NAMELESS, 0, 'null', 0, reason or '"the stored job is missing; push it again"')
  end

  -- Ends a claim that has no outcome of its own: `kind` is released or recovered. Returns the body if the job must go to
  -- the head of its ready list.
  function endings.end_claim(id, session, kind)
    local body = call('HGET', key('body'), id)
    if not body then return end
    room = room - #body
    local _, _, _, fragment = header(body)
    fragment = fragment or NAMELESS
    local attempt = num(field('failures', id)) + 1
    local stop = field('stops', id)
    local worker = '"' .. printable(session) .. '"'
    if stop and (stop == 'cancel' or not successor_of(id)) then
      count('cancelled')
      return endings.end_job(id, 'c', event('cancelled', id, fragment, attempt, worker, 0, 'null'), nil, true)
    end
    local line = event(kind, id, fragment, attempt, worker, 0, 'null')
    count(kind)
    if endings.superseded(id, fragment, attempt, worker, line, true) then return end
    return body, fragment, attempt, worker, line
  end
end)

-- Writes the gathered changes. Every script that changes jobs ends with it.
local function flush()
  if next(workflows.changed) then workflows.continue() end
  flush_ended()
  if kept ~= 0 or #order > 0 then history.trim() end
  if rates.has_started then rates.forget() end
  publish()
  add_totals()
  wake(fresh)
end
