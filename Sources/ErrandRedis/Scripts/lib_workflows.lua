-- Workflows: what the end of a job means for the jobs that come after it, and for its workflow.
--
-- The jobs of a workflow W go by their numbers there. `workflow:of` has the place of each job that has not ended: W:N, or
-- W:N:QUEUE if the workflow is in another queue; of one that stands for several, all of them. `needs:W` has
-- DEPENDANT>DEPENDENCY for each need that is not met, and `dependants:W` has DEPENDENCY>CONDITION>DEPENDANT (s success, a
-- any end, f failure). The jobs without needs come after `r`, which ends when the workflow is sealed. `workflow:work` lists
-- the ends whose dependants are still to be looked at: W, number and how it has ended. `blocked:jobs` has due time, policy
-- and name of each job that waits for others, and after the policy @QUEUE if it runs in another queue. `workflow:hops` lists
-- what is to be told to other queues.
on_use(workflows, function()
  local RESULT_BYTES = 67108864
  local changed, stopped = workflows.changed, workflows.stopped

  local keys = {}
  local function of(name, w)
    local own = keys[w] or {}
    keys[w] = own
    own[name] = own[name] or key(name .. ':' .. w)
    return own[name]
  end
  workflows.of = of
  -- What this call knows of a workflow: its state and the bytes of its results before, and whether one of its jobs is dead.
  local seen = {}
  local function look_at(w)
    if not seen[w] then
      local header = try('HMGET', of('workflow', w), 'state', 'bytes') or {}
      seen[w] = { state = header[1], bytes = num(header[2]), has_dead = call('EXISTS', of('dead', w)) == 1 }
    end
    return seen[w]
  end
  -- Notes an end: the letters are those of the records of ended jobs, and k skipped, i dead and ignored, d dead, after
  -- which the rest is cancelled, h dead and held.
  function workflows.note(w, n, how)
    local noted = workflows.noted
    noted[#noted + 1] = { w, n, how }
    changed[w], workflows.is_busy = true, true
  end
  -- Leaves a message, usually for another queue, with a number that only grows; any worker delivers it.
  function workflows.hop(text)
    local number = whole(math.max(num(field('runtime', 'hop')) + 1, now))
    set_field('runtime', 'hop', number)
    call('RPUSH', key('workflow:hops'), number .. ' ' .. text)
    workflows.is_busy = true
  end
  -- A job goes to another queue: its due time, policy and name, and its envelope. A callback has the number -.
  function workflows.send(to, w, n, id, place, envelope)
    workflows.hop('push ' .. to .. ' ' .. w .. ' ' .. n .. ' ' .. id .. ' ' .. #place .. '\n' .. place .. envelope)
  end
  -- Tells the home queue what has happened to a job here: f, c, e, x, k as in records of ended jobs, d dead, u retried, r
  -- another job has its place.
  local function tell_home(home, w, n, how, value)
    workflows.hop('end ' .. home .. ' ' .. w .. ' ' .. n .. ' ' .. how .. '\n' .. (value or ''))
  end
  function workflows.job_of(w, n) return call('HGET', of('jobs', w), n) or w .. '-' .. n end

  local FAILS = { c = true, e = true, x = true, d = true }
  function workflows.end_member(w, n, how, result)
    if try('SREM', of('open', w), n) ~= 1 then return end
    local flow = look_at(w)
    -- An error would lose the ends that are noted so far.
    if flow.has_dead then try('SREM', of('dead', w), n) end
    try('HSET', of('ends', w), n, how .. nowtext)
    if FAILS[how] then try('HSET', of('workflow', w), 'has_failure', 1) end
    -- A client cancels the jobs that do not wait for others: there may be many, also in other queues.
    if how == 'd' and try('HSET', of('workflow', w), 'cancels', 1) == 1 then workflows.hop('stop ' .. queue .. ' ' .. w .. ' - -\n') end
    result = result or ''
    if how == 'f' and flow.bytes + #result <= RESULT_BYTES then
      flow.bytes = flow.bytes + #result
      if #result > 0 then try('HINCRBY', of('workflow', w), 'bytes', #result) end
      try('HSET', of('outputs', w), n, result)
    end
    -- Nothing runs before the seal, which looks at the dependants of jobs that were cancelled or deleted before it.
    if flow.state ~= 'unsealed' then workflows.note(w, n, how) end
  end

  -- Calls one of two functions for each place of a job: one of this queue, or of another one.
  local function each_place(text, here, elsewhere)
    for w, n, home in string.gmatch(text, '(%w+):(%d+):?(%S*)') do
      if home == '' then here(w, n) else elsewhere(home, w, n) end
    end
  end
  -- The places of a job pass to another one, which has replaced it or holds the name because of which it was dropped.
  local function pass_on(text, id)
    local own = field('workflow:of', id)
    set_field('workflow:of', id, own and own .. ' ' .. text or text)
    each_place(text, function(w, n) workflows.move_member(w, n, id) end, function(home, w, n) tell_home(home, w, n, 'r', id) end)
  end
  function workflows.move_member(w, n, id)
    call('HSET', of('jobs', w), n, id)
    call('HSET', of('numbers', w), id, n)
  end
  -- A job has ended. `newer` is the one that has replaced it.
  function workflows.ended(id, how, result, newer)
    local text = field('workflow:of', id)
    if not text then return end
    call('HDEL', key('workflow:of'), id)
    if newer then return pass_on(text, newer) end
    each_place(text, function(w, n) workflows.end_member(w, n, how, result) end,
      function(home, w, n) tell_home(home, w, n, how, result) end)
  end

  -- Takes away a job's places in a workflow.
  function workflows.leave(w, id)
    local text, kept = field('workflow:of', id), {}
    for place in string.gmatch(text or '', '%S+') do
      if string.sub(place, 1, #w + 1) ~= w .. ':' then kept[#kept + 1] = place end
    end
    if kept[1] then set_field('workflow:of', id, table.concat(kept, ' ')) elseif text then call('HDEL', key('workflow:of'), id) end
  end

  -- A job was dropped because of another one, which takes its places if it has not ended.
  function workflows.dropped(id, holder)
    local text = field('workflow:of', id)
    if not text then return end
    call('HDEL', key('workflow:of'), id)
    if call('HEXISTS', key('body'), holder) == 1 then return pass_on(text, holder) end
    each_place(text, function(w, n) workflows.end_member(w, n, 'k') end, function(home, w, n) tell_home(home, w, n, 'k') end)
  end

  -- Returns whether the member holds up its workflow.
  function workflows.member_died(w, n)
    local on_dead = call('HGET', of('workflow', w), 'on_dead')
    if on_dead == 'ignore' or on_dead == 'cancel_rest' then
      workflows.end_member(w, n, on_dead == 'ignore' and 'i' or 'd')
      return false
    end
    local is_open = call('SISMEMBER', of('open', w), n) == 1
    if is_open then look_at(w).has_dead = true end
    if is_open and call('SADD', of('dead', w), n) == 1 then workflows.note(w, n, 'h') end
    return is_open
  end
  -- A job is dead. Unless it holds up its workflow, it has no place there any more.
  function workflows.died(id)
    local text = field('workflow:of', id)
    if not text then return end
    local kept = {}
    each_place(text, function(w, n)
      if workflows.member_died(w, n) then kept[#kept + 1] = w .. ':' .. n end
    end, function(home, w, n)
      kept[#kept + 1] = w .. ':' .. n .. ':' .. home
      tell_home(home, w, n, 'd')
    end)
    if kept[1] then set_field('workflow:of', id, table.concat(kept, ' ')) else call('HDEL', key('workflow:of'), id) end
  end
  function workflows.member_retried(w, n)
    call('SREM', of('dead', w), n)
    changed[w] = true
  end
  -- Somebody retries a dead job.
  function workflows.retried(id)
    each_place(field('workflow:of', id) or '', workflows.member_retried, function(home, w, n) tell_home(home, w, n, 'u') end)
  end

  -- Whether nothing of a workflow starts any more.
  local function is_stopped(w)
    if stopped[w] == nil then
      local header = call('HMGET', of('workflow', w), 'state', 'cancels')
      stopped[w] = header[1] == 'cancelled' or header[2] == '1'
    end
    return stopped[w]
  end

  -- A blocked job leaves its place. Returns its due time, policy and name; nil if it is not blocked.
  function workflows.take_blocked(id)
    local place = has('blocked:jobs') and try('HGET', key('blocked:jobs'), id)
    if not place then return nil end
    call('HDEL', key('blocked:jobs'), id)
    call('ZREM', key('blocked:order'), id)
    return string.match(place, '^(%d+) (%S+) (.*)$')
  end
  local function end_blocked(id, kind, how)
    local body = call('HGET', key('body'), id)
    local _, _, _, fragment = header(body)
    local line = event(kind, id, fragment or NAMELESS, 0, 'null', 0, 'null')
    count(kind)
    endings.end_job(id, how, line)
  end
  -- Ends a job that has left its place among the blocked ones if its workflow was stopped. Returns whether it did.
  function workflows.cancel_stopped(id)
    local is_over = false
    each_place(field('workflow:of', id) or '', function(w) is_over = is_over or is_stopped(w) end, function() end)
    if is_over then end_blocked(id, 'cancelled', 'c') end
    return is_over
  end
  -- The expiry of a member counts from now on.
  function workflows.with_expiry(body)
    local start, after, rest = string.match(body, '^(' .. string.rep('%d', 13) .. '2%a%d;%d+;%d*;%d*;)%+(%d+)(;.*)$')
    if not start then return body end
    return start .. whole(now + num(after)) .. rest
  end
  -- A job has no needs any more: it gets its name and is ready, or scheduled. If another job holds the name, the next
  -- promotion decides.
  local function release(w, n)
    local id = workflows.job_of(w, n)
    local place = try('HGET', key('blocked:jobs'), id)
    local due, policy, name = string.match(place or '', '^(%d+) (%S+) (.*)$')
    local body = due and call('HGET', key('body'), id)
    if not body then return end
    local short, elsewhere = string.match(policy, '^(.*)@(.*)$')
    if elsewhere and not is_stopped(w) then
      workflows.take_blocked(id)
      delete_field('workflow:of', id)
      call('HDEL', key('body'), id)
      return workflows.send(elsewhere, w, n, id, due .. ' ' .. short .. ' ' .. name, string.sub(body, 14))
    end
    if policy ~= 'i' and not is_stopped(w) and (#policy > 1 or call('HEXISTS', key('unique'), name) == 1) then
      call('RPUSH', key('blocked:released'), id)
      known['blocked:released'] = true
      return
    end
    workflows.take_blocked(id)
    if is_stopped(w) then return end_blocked(id, 'cancelled', 'c') end
    if policy ~= 'i' then
      set_field('unique:of', id, name)
      set_field('unique', name, id)
    end
    body = workflows.with_expiry(body)
    call('HSET', key('body'), id, stamp .. string.sub(body, 14))
    moves.enqueue(id, body, num(due))
  end
  local function skip(w, n)
    local id = workflows.job_of(w, n)
    try('ZREMRANGEBYLEX', of('needs', w), '[' .. n .. '>', '(' .. n .. '?')
    if not workflows.take_blocked(id) then return end
    end_blocked(id, is_stopped(w) and 'cancelled' or 'skipped', is_stopped(w) and 'c' or 'k')
  end
  local function meet(w, n, dependency)
    try('ZREM', of('needs', w), n .. '>' .. dependency)
    local left = try('ZRANGEBYLEX', of('needs', w), '[' .. n .. '>', '(' .. n .. '?', 'LIMIT', 0, 1) or {}
    if #left == 0 then release(w, n) end
  end

  -- What each end means for those that come after it: by success, by any end, by failure. A dead job that holds up its
  -- workflow has ended for the last two only.
  local DONE = { s = meet, a = meet, f = skip }
  local FAILED = { s = skip, a = meet, f = meet }
  local MEANING = {
    f = DONE, i = DONE, c = FAILED, e = FAILED, x = FAILED, d = FAILED, k = { s = skip, a = meet, f = skip }, h = { a = meet, f = meet },
  }
  -- Looks at dependants of one end; returns how many, and whether these were all.
  function workflows.continue_one(w, n, how, most)
    local meaning = MEANING[how]
    if not meaning then return 0, true end
    local last = how == 'h' and '>g' or '?'
    local edges = try('ZRANGEBYLEX', of('dependants', w), '[' .. n .. '>', '(' .. n .. last, 'LIMIT', 0, most) or {}
    if #edges > 0 then try('ZREM', of('dependants', w), unpack(edges)) end
    for _, edge in ipairs(edges) do
      local condition, dependant = string.match(edge, '^%w+>(%a)>(%d+)$')
      local apply = meaning[condition]
      if apply then apply(w, dependant, n) end
    end
    return #edges, #edges < most
  end
end)
