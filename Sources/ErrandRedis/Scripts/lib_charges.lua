-- Shares by run time, if the rule of the whole queue asks for them: a claim is charged the mean run time of the queue in
-- advance, and the difference when it ends. The text of such a claim ends with its level and the charge in ms.
local run_time = {}
on_use(run_time, function()
  local differences, runs, total = {}, 0, 0

  -- What a claim is charged in ms; nil if shares are not by run time.
  function run_time.estimate()
    if not rule_of(WHOLE_QUEUE).by_time then return nil end
    return math.max(1, math.floor(num(call('HGET', key('runtime'), 'mean_run')) / 1000))
  end
  -- Notes the run time of a claim that ends. A claim that did not run leaves the mean as it is.
  function run_time.note(text, duration, has_run)
    duration = math.min(num(duration), 1000000000000)
    local group, level, charge = string.match(text, '^%d+:%d+:%d*:(%S*) (%d) (%d+)$')
    if not group then return end
    local place = level .. ':' .. group
    differences[place] = (differences[place] or 0) + duration - num(charge)
    if has_run then runs, total = runs + 1, total + duration end
  end

  local function move(node, child, milliseconds, weight)
    for _, set in ipairs({ 'groups:', 'left:' }) do
      local time = tonumber(try('ZSCORE', key(set .. node), child) or '')
      if time then return try('ZADD', key(set .. node), whole(time + math.floor(1000 * milliseconds / weight)), child) end
    end
  end
  local function correct(level, group, milliseconds)
    if group == '' then return move(level, '', milliseconds, 1) end
    local first, second = parts_of(group)
    move(level, first, milliseconds, rule_of(first).weight or 1)
    move(level .. ':' .. first, second or '', milliseconds, second and rule_of(group).weight or 1)
  end
  -- Charges the groups of the noted claims the differences.
  function run_time.settle()
    for place, milliseconds in pairs(differences) do
      local level, group = string.match(place, '^(%d):(.*)$')
      correct(level, group, milliseconds)
    end
    if runs == 0 then return end
    local mean, latest = num(call('HGET', key('runtime'), 'mean_run')), math.floor(1000 * total / runs)
    call('HSET', key('runtime'), 'mean_run', whole(mean > 0 and math.floor((9 * mean + latest) / 10) or latest))
  end
end)
