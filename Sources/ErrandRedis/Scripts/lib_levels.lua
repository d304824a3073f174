-- Selects the lists that a claim takes from: levels, unroutable jobs of operations that the session has, and
-- quarantined jobs.
local levels = {
  -- Whether this session found a quarantined job among unroutable ones.
  found_quarantined = false
}
on_use(levels, function()
  -- Whether this session may become the quarantine owner.
  local may_own_quarantine = false

  -- The unroutable jobs that may run beside others. A quarantined job moves to the quarantine if this session may own it,
  -- since it has the operation. Otherwise the job goes to the end of its list, because the present quarantine owner may
  -- lack the operation.
  local function without_quarantined(found, list_key)
    if #found == 0 or not has('crashes') then return found end
    local crashes, others = call('HMGET', key('crashes'), unpack(found)), {}
    for i, id in ipairs(found) do
      if num(crashes[i]) < QUARANTINE_AFTER then others[#others + 1] = id
      elseif may_own_quarantine then
        levels.found_quarantined = true
        call('RPUSH', key('quarantined'), entry_for(id))
      else call('RPUSH', list_key, entry_for(id)) end
    end
    return others
  end

  -- The lists of unroutable jobs by level, for operations that this session has. Invented operations do not add to the
  -- cost.
  local function known_unroutable()
    local found = {}
    local function add(group)
      local operation, level = parse_unroutable_field(group)
      if not operation or call('HEXISTS', me, 'op:' .. operation) == 0 or wrong_type('unroutable:' .. group, 'list') then return end
      found[level] = found[level] or {}
      table.insert(found[level], group)
    end
    if call('HLEN', key('unroutable')) <= 100 then
      for _, group in ipairs(call('HKEYS', key('unroutable'))) do add(group) end
      return found
    end
    for _, name in ipairs(call('HKEYS', me)) do
      local operation = string.match(name, '^op:(.+)$')
      for level = 0, operation and 9 or -1 do
        local group = level == 5 and operation or operation .. ':' .. level
        if call('HEXISTS', key('unroutable'), group) == 1 then add(group) end
      end
    end
    return found
  end

  -- Whether jobs with a group, which may run, wait at a level.
  local function has_groups(level) return has('backlog') and (try('ZCARD', key('groups:' .. level)) or 0) > 0 end

  -- The highest level comes first, but while several levels wait, every sixteenth job is from the lowest. Within a level,
  -- unroutable jobs precede ready ones, because they were ready before.
  function levels.take(n)
    local unroutable = has('unroutable') and known_unroutable() or {}
    local turn = num(runtime.turn)

    local function take_level(level, most)
      local lists = unroutable[level] or {}
      while #lists > 0 and most > 0 and room > 0 and looked < 2000 do
        -- Each call begins with another list, so that none waits forever.
        local at = num(call_number) % #lists + 1
        local list_key = key('unroutable:' .. lists[at])
        regroups = true
        most = take(list_key, most, without_quarantined)
        regroups = false
        local left = call('LLEN', list_key)
        if left > 0 then call('HSET', key('unroutable'), lists[at], left) else call('HDEL', key('unroutable'), lists[at]) end
        -- The rest of the list was examined, and stays.
        if most > 0 or left == 0 then table.remove(lists, at) end
      end
      if #lists == 0 then unroutable[level] = nil end
      if most > 0 and has_groups(level) then shares.take(level, most) elseif most > 0 then take(key('ready:' .. level), most) end
    end

    while n > 0 and room > 0 and looked < 2000 do
      local highest, lowest
      local looked_before = looked
      for level = 9, 0, -1 do
        if unroutable[level] or call('EXISTS', key('ready:' .. level)) == 1 or has_groups(level) then
          highest = highest or level
          lowest = level
        end
      end
      if not highest then break end
      if highest == lowest then
        take_level(highest, n)
        break
      end
      local before = #ids
      if turn >= 15 then
        take_level(lowest, 1)
        if #ids > before then turn = 0 end
      else
        take_level(highest, math.min(n, 15 - turn))
        turn = turn + #ids - before
      end
      n = n - (#ids - before)
      if looked == looked_before or passed_over > 0 then break end
    end
    call('HSET', key('runtime'), 'turn', turn)
  end

  -- Whether a session holds a quarantined job and nothing else.
  local function runs_only_quarantined(other)
    local theirs = claims_key(other)
    if call('TYPE', theirs).ok ~= 'hash' or call('HLEN', theirs) ~= 1 then return false end
    return num(field('crashes', call('HKEYS', theirs)[1])) >= QUARANTINE_AFTER
  end

  local function first_quarantined()
    local tombs = {}
    for _, entry in ipairs(call('LRANGE', key('quarantined'), 0, 99)) do
      tombs[entry] = tombs[entry] or num(field('tombstones', entry))
      local id = field('alias', entry) or entry
      local body = tombs[entry] < 1 and call('HGET', key('body'), id)
      if body then return body, id end
      tombs[entry] = tombs[entry] - 1
    end
  end

  -- Whether the group of the first quarantined job is full or rests. Then no quarantined job runs.
  function levels.is_first_held_back()
    local body, id = first_quarantined()
    local _, _, _, _, _, _, group = header(body)
    for _, part in ipairs(group and groups.limited(group) or {}) do
      if must_wait(part, id) then
        groups.note_rest(part)
        -- The next one may be able to run.
        local entry = call('LLEN', key('quarantined')) > 1 and call('LPOP', key('quarantined'))
        if entry then call('RPUSH', key('quarantined'), entry) end
        return true
      end
    end
    return false
  end

  local function can_run_first_quarantined()
    local _, _, _, fragment = header(first_quarantined())
    local operation = string.match(fragment or '', '^"operation":"([%w_.-]+)"')
    return operation and call('HEXISTS', me, 'op:' .. operation) == 1
  end

  -- Makes this session the quarantine owner if it can be: one session at a time runs the quarantined jobs, each alone.
  -- Returns whether the session may claim no other jobs now. An owner that still holds other jobs blocks no one: a
  -- session without claims replaces it.
  function levels.own_quarantine()
    local owner, waiting = runtime.owner, has('quarantined') and not levels.is_first_held_back()
    may_own_quarantine = not owner
    if not waiting and not owner then return false end
    local holding = call('HLEN', mine)
    if owner and owner ~= session and call('ZSCORE', key('sessions'), owner) then
      if runs_only_quarantined(owner) or (waiting and (holding > 0 or not can_run_first_quarantined())) then return false end
    end
    if not waiting then
      if owner == session and runs_only_quarantined(session) then return true end
      call('HDEL', key('runtime'), 'quarantine_owner')
      may_own_quarantine = true
      return false
    end
    call('HSET', key('runtime'), 'quarantine_owner', session)
    if holding == 0 then take(key('quarantined'), 1) end
    return true
  end
end)
