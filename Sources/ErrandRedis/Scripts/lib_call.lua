-- The claims of a call: how many it may make, which lists they come from, and what is stored of them.

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
    token = whole(math.max(clock[1] * 1000000 + clock[2], num(runtime.token) + 1))
    default_claim = claim_text(token, hard_deadline(nil, claim_margin, default_duration))
    if (is_plain or not has_others()) and not runtime.owner then
      take(key('ready:5'), most)
    elseif not levels.own_quarantine() then
      levels.take(most)
      if levels.found_quarantined and not levels.is_first_held_back() then
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
    groups.return_rested(100)
    return true
  end

  -- How many jobs the rule of the whole queue lets a session claim; the queue is full or rests if it is none. Then the end
  -- of a claim or of the rest wakes a session.
  local function free_of_queue()
    local rule = rule_of(WHOLE_QUEUE)
    if not rule.at_once and not rule.interval then return wanted end
    local most = rates.free(WHOLE_QUEUE)
    if rule.at_once then most = math.min(most, rule.at_once - groups.count_claims()) end
    if most <= 0 then
      groups.note_rest(WHOLE_QUEUE)
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
    notice_outage()
    each_portion(claims, 1000, 'HSET', mine)
    if has('flow') then
      rates.start(WHOLE_QUEUE, #ids)
      free_of_queue()
    end
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

  function found_nothing()
    token = ''
    if looked >= 2000 and skipped > 0 then flags = 4
    else
      waits = passed_over == 0
      if accepts_dispatch and waits then dispatch_terms = dispatch_terms_of(claim_margin, default_duration) end
    end
    if first_due('scheduled', nowtext)[1] or first_due('retrying', nowtext)[1] then flags = flags + 1 end
  end

  -- How many jobs this call may claim.
  function most_of_call() return uses_flow() and most_of_queue() or wanted end
end
