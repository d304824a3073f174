-- Rates and rests of groups, by the generic cell rate algorithm (GCRA): a group has a theoretical arrival time, which each
-- start moves by the interval between two starts, and it may be ahead of the clock by that of a burst. `tat` has those
-- times in µs; as `=GROUP` the ms of the latest start that found the group less than an interval ahead; and as `!GROUP` the
-- µs until which a handler lets the group rest. `resting` has the groups that are held back until a time (ms).
local rates = { begins_earlier = false, has_started = false }
on_use(rates, function()
  -- Times in µs are beyond this, times in ms below it.
  local MICROSECONDS = '100000000000000'
  -- Ten years in ms: no rest and no burst matters for longer.
  local LONGEST = 315360000000
  local times = {}
  local function time_of(member)
    if not times[member] then times[member] = tonumber(has('tat') and try('ZSCORE', key('tat'), member) or 0) or 0 end
    return times[member]
  end
  local function set_time(member, time)
    times[member] = time
    try('ZADD', key('tat'), whole(time), member)
    known.tat = true
  end

  -- The time (ms) until which a group may not start jobs, and whether its rate is the reason; 0 if it may.
  function rates.rests_until(group)
    if not has('tat') then return 0, false end
    local rule = rule_of(group)
    local by_rate = rule.interval and time_of(group) - (rule.burst - 1) * rule.interval or 0
    local rest = time_of('!' .. group)
    local ends = math.ceil(math.max(by_rate, rest) / 1000)
    return ends > now and ends or 0, by_rate > rest
  end
  -- How many jobs of a group with a rate may start now.
  function rates.free(group)
    local rule = rule_of(group)
    if rates.rests_until(group) > 0 then return 0 end
    if not rule.interval then return 1000 end
    return math.max(1, rule.burst - math.ceil(math.max(time_of(group) - now * 1000, 0) / rule.interval))
  end
  function rates.start(group, count)
    local rule = rule_of(group)
    if not rule.interval then return end
    local time = time_of(group)
    if time - rule.interval < now * 1000 then set_time('=' .. group, now) end
    set_time(group, math.max(time, now * 1000) + count * rule.interval)
    rates.has_started = true
  end
  -- Takes back a start at a time (ms). Only while the group has been busy since then is it certain that its later starts
  -- did not use that one's time.
  function rates.refund(group, at)
    local rule = rule_of(group)
    if not rule.interval or time_of(group) <= now * 1000 or at < time_of('=' .. group) then return end
    set_time(group, time_of(group) - rule.interval)
  end
  function rates.rest(group, ends)
    set_time('!' .. group, math.max(time_of('!' .. group), ends * 1000))
    rates.note(group, ends)
    rates.has_started = true
  end

  -- No rule lets a group be further ahead of the clock than by its burst: the rule was another one before, or the clock
  -- was set back.
  function rates.limit(group)
    local rule = rule_of(group)
    local most = rule.interval and has('tat') and now * 1000 + rule.burst * rule.interval
    if most and time_of(group) > most then set_time(group, most) end
  end
  -- Notes that a group is held back until a time. The session that makes the first of these times earlier looks then.
  function rates.note(group, ends)
    local first = try('ZRANGE', key('resting'), 0, 0, 'WITHSCORES') or {}
    if not first[2] or num(first[2]) > ends then rates.begins_earlier = true end
    try('ZADD', key('resting'), whole(ends), group)
    known.resting = true
  end
  -- The groups whose rest is over, at most so many; they are no longer noted.
  function rates.rested(most)
    local over = has('resting') and try('ZRANGEBYSCORE', key('resting'), '-inf', nowtext, 'LIMIT', 0, most) or {}
    if #over > 0 then call('ZREM', key('resting'), unpack(over)) end
    return over
  end
  -- Forgets times that have passed, some a call; the key expires with the last one.
  function rates.forget()
    local passed = try('ZRANGEBYSCORE', key('tat'), MICROSECONDS, whole(now * 1000), 'LIMIT', 0, 1000) or {}
    local members = {}
    for _, group in ipairs(passed) do
      members[#members + 1] = group
      members[#members + 1] = '=' .. group
    end
    each_portion(members, 1000, 'ZREM', key('tat'))
    local last = try('ZREVRANGE', key('tat'), 0, 0, 'WITHSCORES') or {}
    local left = math.ceil((tonumber(last[2] or 0) or 0) / 1000) - now
    if last[2] then call('PEXPIRE', key('tat'), whole(math.max(1, math.min(left, LONGEST)))) end
  end
end)
