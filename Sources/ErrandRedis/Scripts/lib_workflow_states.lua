-- Workflows: when one has ended, has failed or goes on, and what is left to later calls.
on_use(workflows, function()
  -- How many dependants, or jobs, one call looks at.
  local MOST = 30
  local changed, of = workflows.changed, workflows.of

  -- The server frees a large key in the background, unless the user may not call UNLINK.
  local function free(name)
    local reply = redis.pcall('UNLINK', name)
    if type(reply) == 'table' and reply.err then call('DEL', name) end
  end
  -- Pushes the job of an end: id, @QUEUE if it runs in another one, and envelope. In later rounds it has another id.
  local function push_callback(w, round, job)
    local id, elsewhere, envelope = string.match(job or '', '^([^ @]+)@?(%S*) (.+)$')
    if id and round ~= '1' then id = id .. '-' .. round end
    if id and elsewhere ~= '' then return workflows.send(elsewhere, w, '-', id, '0 i ', envelope) end
    if not id or call('HEXISTS', key('body'), id) == 1 or field('ended', id) or field('ended:old', id) then return end
    local body = workflows.with_expiry(stamp .. envelope)
    call('HSET', key('body'), id, body)
    moves.enqueue(id, body, 0)
    count('pushed')
  end
  local function tell(w, kind, json_name, round)
    count('workflow_' .. kind)
    gather_event('{"event":"workflow_' .. kind .. '","id":"' .. queue .. ':' .. w .. '","operation":null,"name":' .. json_name
      .. ',"queue":"' .. queue .. '","attempt":0,"worker":null,"at_ms":' .. nowtext .. ',"duration_ms":0,"error":null,"round":' .. round .. '}')
  end
  -- Decides whether a workflow has ended, has failed, or goes on.
  local function settle(w)
    local at = of('workflow', w)
    local header = call('HMGET', at, 'state', 'has_failure', 'round', 'name', 'json_name', 'on_success', 'on_failure', 'cancels', 'ended')
    local state, has_failure, round, name, json_name = unpack(header, 1, 5)
    if not state or state == 'unsealed' or header[9] then return end
    local before, open, dead = state, call('SCARD', of('open', w)), call('SCARD', of('dead', w))
    if state ~= 'cancelled' then
      if dead > 0 or header[8] then state = 'failed'
      elseif open > 0 then state = 'running'
      else state = has_failure and 'failed' or 'finished' end
      if before == 'failed' and state == 'running' then round = whole(num(round) + 1) end
    end
    if state ~= before or round ~= header[3] then call('HSET', at, 'state', state, 'round', round) end
    if open == 0 then
      call('HSET', at, 'ended', nowtext)
      for _, part in ipairs({ 'outputs', 'needs', 'dependants', 'dead' }) do free(of(part, w)) end
      call('ZADD', key('workflows:ended'), nowtext, w)
      if call('HGET', key('workflow:names'), name) == w then call('HDEL', key('workflow:names'), name) end
    end
    if state == 'cancelled' and open == 0 then return tell(w, state, json_name, round) end
    if state == before or state == 'running' or state == 'cancelled' then return end
    tell(w, state, json_name, round)
    push_callback(w, round, header[state == 'finished' and 6 or 7])
  end

  -- Nothing of a workflow starts any more; dead jobs have ended then. Returns whether it had not ended.
  function workflows.stop(w)
    local header = call('HMGET', of('workflow', w), 'state', 'ended')
    if not header[1] or header[1] == 'unsealed' or header[2] then return false end
    call('HSET', of('workflow', w), 'state', 'cancelled')
    local dead = call('SMEMBERS', of('dead', w))
    table.sort(dead, function(one, other) return num(one) < num(other) end)
    for _, n in ipairs(dead) do
      call('SREM', of('open', w), n)
      workflows.leave(w, workflows.job_of(w, n))
      workflows.note(w, n, 'c')
    end
    call('DEL', of('dead', w))
    changed[w], workflows.stopped[w] = true, true
    return true
  end

  -- Forgets up to `most` jobs of a workflow, none of which runs, and the workflow with the last ones. Returns how many, and
  -- whether more are left.
  function workflows.forget(w, most)
    local taken = try('SPOP', of('open', w), most) or {}
    for _, n in ipairs(taken) do
      local id = workflows.job_of(w, n)
      workflows.leave(w, id)
      if workflows.take_blocked(id) then call('HDEL', key('body'), id) end
    end
    if call('EXISTS', of('open', w)) == 1 then return #taken, true end
    for _, part in ipairs(workflows.PARTS) do free(of(part, w)) end
    for _, name in ipairs({ 'workflows', 'workflows:unsealed', 'workflows:ended' }) do call('ZREM', key(name), w) end
    return #taken, false
  end

  local KEPT, KEPT_MS = 10000, 86400000
  -- Forgets a workflow that was not sealed in time, or one that ended a day ago or is one of too many. Returns whether
  -- others may follow.
  function workflows.trim()
    local late = call('ZRANGEBYSCORE', key('workflows:unsealed'), '-inf', nowtext, 'LIMIT', 0, 1)[1]
    if not late then
      local is_full = call('ZCARD', key('workflows:ended')) > KEPT
      late = call('ZRANGEBYSCORE', key('workflows:ended'), '-inf', is_full and '+inf' or whole(now - KEPT_MS), 'LIMIT', 0, 1)[1]
    end
    if late then workflows.forget(late, MOST) end
    return late ~= nil
  end

  -- Looks at dependants of ends in their order. Returns how many ends are done with, and how many more dependants may be
  -- looked at.
  local function continue_all(ends, most)
    local done = 0
    while most > 0 and ends[done + 1] do
      local w, n, how = unpack(ends[done + 1])
      local looked, is_all = workflows.continue_one(w, n, how, most)
      if is_all then done = done + 1 end
      most = most - math.max(looked, 1)
    end
    return done, most
  end
  -- The same of ends that earlier calls have left.
  local function continue_left(most)
    if not has('workflow:work') then return most end
    local ends, done = {}, 0
    for i, item in ipairs(call('LRANGE', key('workflow:work'), 0, most - 1)) do
      ends[i] = { string.match(item, '^(%w+) (%w+) (%a)$') }
    end
    done, most = continue_all(ends, most)
    if done > 0 then call('LPOP', key('workflow:work'), done) end
    return most
  end
  -- Leaves noted ends to later calls.
  local function leave(ends, done)
    local left = {}
    for i = done + 1, #ends do left[#left + 1] = table.concat(ends[i], ' ') end
    each_portion(left, 1000, 'RPUSH', key('workflow:work'))
    if left[1] then known['workflow:work'] = true end
  end

  -- Looks at the dependants of what has ended, at most so many; the rest is left to later calls. `resumes` says that an
  -- earlier call may have left some.
  function workflows.continue(resumes)
    if not (resumes or next(changed)) then return end
    local before = fresh
    local most = continue_left(MOST)
    -- What it skips is noted as well.
    leave(workflows.noted, (continue_all(workflows.noted, most)))
    workflows.noted = {}
    local order = {}
    for w in pairs(changed) do order[#order + 1] = w end
    table.sort(order)
    for _, w in ipairs(order) do
      settle(w)
      changed[w] = nil
    end
    workflows.freed = workflows.freed + fresh - before
  end
  -- Looks at the dependants of what has ended, and returns whether some of them are ready now.
  function workflows.frees()
    local before = workflows.freed
    workflows.continue()
    return workflows.freed > before
  end
  -- Whether this call leaves something for workflows to a promotion.
  function workflows.has_more()
    return workflows.noted[1] ~= nil or call('EXISTS', key('workflow:work'), key('blocked:released'), key('workflow:hops')) > 0
  end
end)
