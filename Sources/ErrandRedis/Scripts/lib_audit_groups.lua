-- Groups: their lists, the sets of those that may run, those that are held back, and their slots.
local function node_of(level, group)
  local first, second = parts_of(group)
  if second then return level .. ':' .. first, second end
  return level, first
end
local function is_in(set, member) return (try('ZSCORE', key(set), member) or false) ~= false end
local function is_held_back(level, group)
  return string.find(field('held_back', group) or '', level, 1, true) ~= nil
end

-- Whether a claim can find a group that has waiting jobs.
local function is_found(level, group)
  local node, child = node_of(level, group)
  local first = parts_of(group)
  if is_held_back(level, group) then return true end
  if not is_in('groups:' .. node, child) then return false end
  return first == group or is_held_back(level, first) or is_in('groups:' .. level, first)
end

-- Lists of groups; lists each with its length, which the step of ready lists walks.
function steps.groups()
  if not has('backlog') then return end
  local page = scan('ZSCAN', key('backlog'))
  for i = 1, #page, 2 do
    local list_name = 'group:' .. page[i]
    local level, group = parse_list(list_name)
    move_aside_if_corrupt(list_name, 'list')
    local waiting = not wrong_type(list_name, 'list') and call('LLEN', key(list_name)) or 0
    if waiting == 0 or not level or not is_group(group) then
      finding('group_without_jobs', page[i], function() call('ZREM', key('backlog'), page[i]) end)
    elseif num(page[i + 1]) ~= waiting then
      finding('group_miscounted', page[i], function() call('ZADD', key('backlog'), waiting, page[i]) end)
    end
    if waiting > 0 and level and is_group(group) then
      if not is_found(level, group) then finding('group_not_found', page[i], function() fresh = fresh + groups.note_list(level, group, waiting) end) end
      add(list_name, waiting)
    end
  end
end

-- How many jobs wait in the second parts of each first part. Very many groups are not added up.
function steps.waiting()
  local sums = {}
  if has('backlog') and call('ZCARD', key('backlog')) > 20000 then return end
  local flat = has('backlog') and call('ZRANGE', key('backlog'), 0, -1, 'WITHSCORES') or {}
  for i = 1, #flat, 2 do
    local _, group = parse_list('group:' .. flat[i])
    local first, second = parts_of(group or '')
    if second then sums[first] = (sums[first] or 0) + num(flat[i + 1]) end
  end
  local counted = call('HGETALL', key('waiting'))
  for i = 1, #counted, 2 do sums[counted[i]] = sums[counted[i]] or 0 end
  for first, sum in pairs(sums) do
    if num(call('HGET', key('waiting'), first)) ~= sum then
      finding('group_miscounted', printable(first), function()
        if sum > 0 then call('HSET', key('waiting'), first, sum) else call('HDEL', key('waiting'), first) end
      end)
    end
  end
end

-- A list of a group that a scan of all keys has found.
function steps.group()
  local list_name = 'group:' .. name
  local level, group = parse_list(list_name)
  if wrong_type(list_name, 'list') or not level or not is_group(group) or is_in('backlog', name) then return end
  local waiting = call('LLEN', key(list_name))
  if waiting > 0 then finding('group_unlisted', name, function() fresh = fresh + groups.note_list(level, group, waiting) end) end
end

-- The groups that may run, at a level or below a first part, which a scan of all keys has found.
function steps.eligible()
  move_aside_if_corrupt('groups:' .. name, 'zset')
  if wrong_type('groups:' .. name, 'zset') then return end
  local level, first = string.match(name, '^(%d):?(.*)$')
  if not level then return end
  local page = scan('ZSCAN', key('groups:' .. name))
  for i = 1, #page, 2 do
    local child = page[i]
    local group = first == '' and child or first .. '/' .. child
    if is_group(group) and not groups.waits(level, group) then
      finding('group_without_jobs', level .. ':' .. group, function() call('ZREM', key('groups:' .. name), child) end)
    end
  end
end

function steps.held_back()
  each_field('held_back', function(group)
    -- A group that has rested may run from the next claim on.
    if is_group(group) and is_in('resting', group) then return end
    if is_group(group) and must_wait(group) then
      if groups.is_full(group) or groups.is_blocked(group) then return end
      return finding('group_held_back', printable(group), function() groups.note_rest(group) end)
    end
    finding('group_held_back', printable(group), function()
      if not groups.return_held_back(group) then delete_field('held_back', group) end
    end)
  end)
end

-- Ordered groups that wait for a job that is gone.
function steps.blocked()
  each_field('blocked', function(group)
    local _, _, _, _, _, _, own = header(field('body', field('blocked', group)))
    if is_group(group) and own == group then return end
    finding('group_blocked', printable(group), function()
      delete_field('blocked', group)
      groups.return_held_back(group)
    end)
  end)
end

-- The slots of a group, which a scan of all keys has found: each must have a claim.
function steps.held()
  move_aside_if_corrupt('held:' .. name, 'set')
  if wrong_type('held:' .. name, 'set') then return end
  for _, id in ipairs(scan('SSCAN', key('held:' .. name))) do
    local is_claimed = false
    for _, session in ipairs(sessions()) do
      local claims = claims_of(session)
      local group = claims and groups.of_claim(call('HGET', claims, id) or '')
      is_claimed = group and (group == name or parts_of(group) == name)
      if is_claimed then break end
    end
    if not (is_claimed and rule_of(name).at_once) then
      finding('slot_without_claim', printable(id), function()
        call('SREM', key('held:' .. name), id)
        groups.return_held_back(name)
      end)
    end
  end
end

-- Whether a claim of a job with a group has its slots.
local function check_slots(id, claim)
  local group = groups.of_claim(claim)
  if not group then return end
  for _, part in ipairs(groups.limited(group)) do
    if rule_of(part).at_once and not wrong_type('held:' .. part, 'set') and call('SISMEMBER', key('held:' .. part), id) == 0 then
      return finding('claim_without_slot', id, function() take_slot(group, id) end)
    end
  end
end
