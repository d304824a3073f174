-- Groups of jobs: their lists, their virtual times, and the slots that their claims take.
--
-- A job with a group waits in `group:LEVEL:GROUP`. `groups:LEVEL` has the first parts of the groups that may run by
-- virtual time, and `groups:LEVEL:FIRST` the second parts of one of them. A group that is full or rests is in `held_back`
-- instead, with the levels at which it waits. `left:…` has the virtual times of groups that have left `groups:…`, and as
-- `*` the present virtual time.
local groups = {}
-- The name of the list in which a ready job waits. An ordered group ignores priorities.
local function list_with(priority, group)
  if not group then return 'ready:' .. (priority or '5') end
  return 'group:' .. (rule_of(group).is_ordered and '5' or priority) .. ':' .. group
end
local function list_of(body)
  local priority, _, _, _, _, _, group = header(body)
  return list_with(priority, group)
end
-- The lists in which a job may wait: it stays where it is when a rule makes its group ordered, or no longer does.
local function lists_of(body)
  local priority, _, _, _, _, _, group = header(body)
  if not group then return { list_of(body) } end
  local lists = { list_of(body) }
  for _, level in ipairs({ '5', priority }) do
    local other = 'group:' .. level .. ':' .. group
    if other ~= lists[1] and other ~= lists[2] then lists[#lists + 1] = other end
  end
  return lists
end
local function parse_list(name) return string.match(name, '^group:(%d):(.+)$') end

-- How long the virtual times of groups are kept when no job of their level is claimed.
local SHARES_MS = 60000
-- The nodes that a claim has in memory: a group that enters one of them must not be removed at the end.
local open_nodes = {}

-- Scripts call the following functions for plain jobs as well.

-- Notes that jobs were added to a list, which has this length now. Returns how many sessions to wake for them: none if
-- the group is full.
local function note_added(name, length, added) return parse_list(name) and groups.note_added(name, length, added) or added end
local function take_slot(group, id) if has('flow') then groups.take_slot(group, id) end end
-- Frees the slots of a claim that ends, whatever ends it. This comes before the job's next state. If the claim is
-- released, its start does not count.
local function free_slot(id, text, is_released) if has('flow') then groups.free_slot(id, text, is_released) end end
-- Whether a group may not run now, because it is full, rests, or waits for another job than this one.
local function must_wait(group, id) return (has('flow') or has('tat')) and groups.must_wait(group, id) end

on_use(groups, function()
  -- The groups whose slots a job takes: the first part of its group, and the group itself.
  function groups.limited(group)
    local first = parts_of(group)
    return first == group and { first } or { first, group }
  end
  function groups.of_claim(text) return string.match(text, '^%d+:%d+:%d*:(%S+)') end
  -- When a claim was made (ms), which its token implies unless the claim says otherwise.
  local function made_at(text)
    local token, made = string.match(text, '^(%d+):%d+:(%d*)')
    return num(made) > 0 and num(made) or math.floor(num(token or string.match(text, '^(%d+)')) / 1000)
  end

  -- Slots: the ids of the claimed jobs of a group whose claims are limited. A job with two parts may take one of each.
  local held = {}
  local function slots_of(group)
    if not held[group] then held[group] = try('SCARD', key('held:' .. group)) or 0 end
    return held[group]
  end
  local function change_slot(command, group, id, by)
    local changed = try(command, key('held:' .. group), id) or 0
    if held[group] then held[group] = held[group] + by * changed end
  end
  function groups.is_full(group)
    local most = rule_of(group).at_once
    return most ~= nil and slots_of(group) >= most
  end
  -- Whether an ordered group waits for a job that has started and not ended, other than this one: `blocked` has its id.
  function groups.is_blocked(group, id)
    local rule = rule_of(group)
    local by = rule.is_ordered and field('blocked', group)
    return by and by ~= id and not (rule.skips_dead and call('ZSCORE', key('dead'), by))
  end
  function groups.must_wait(group, id)
    return groups.is_full(group) or groups.is_blocked(group, id) or rates.rests_until(group) > 0
  end
  function groups.take_slot(group, id)
    if rule_of(group).is_ordered then set_field('blocked', group, id) end
    for _, part in ipairs(groups.limited(group)) do
      if rule_of(part).at_once then change_slot('SADD', part, id, 1) end
      rates.start(part, 1)
    end
  end

  -- Notes until when a group rests. Returns whether it does.
  function groups.note_rest(group)
    rates.limit(group)
    local ends = rates.rests_until(group)
    if ends > 0 then rates.note(group, ends) end
    return ends > 0
  end
  function groups.hold_back(group, level)
    local levels = has('held_back') and call('HGET', key('held_back'), group) or ''
    if not string.find(levels, level, 1, true) then set_field('held_back', group, levels .. level) end
    groups.note_rest(group)
  end
  local function forget_held_back(group, level)
    local levels = has('held_back') and call('HGET', key('held_back'), group)
    if not levels then return end
    levels = string.gsub(levels, level, '')
    if levels == '' then call('HDEL', key('held_back'), group) else call('HSET', key('held_back'), group, levels) end
  end

  -- Enters a group, or one of its parts, among those that may run. It starts no earlier than the present virtual time,
  -- so that no group makes up for its absence. Returns whether it may run.
  local function enter_node(node, child, group, level)
    if must_wait(group) then
      groups.hold_back(group, level)
      return false
    end
    local lowest = try('ZRANGE', key('groups:' .. node), 0, 0, 'WITHSCORES') or {}
    local present = tonumber(try('ZSCORE', key('left:' .. node), '*') or lowest[2] or 0)
    local own = tonumber(try('ZSCORE', key('left:' .. node), child) or 0)
    try('ZADD', key('groups:' .. node), 'NX', whole(math.max(present, own)), child)
    if open_nodes[node] then open_nodes[node].gone[child] = nil end
    return true
  end
  local function enter(level, group)
    local first, second = parts_of(group)
    if second and not enter_node(level .. ':' .. first, second, group, level) then return end
    enter_node(level, first, first, level)
  end
  local function leave(node, child)
    local time = try('ZSCORE', key('groups:' .. node), child)
    if not time then return end
    try('ZREM', key('groups:' .. node), child)
    try('ZADD', key('left:' .. node), time, child)
    call('PEXPIRE', key('left:' .. node), whole(SHARES_MS))
  end
  function groups.waits(level, group)
    if (try('LLEN', key('group:' .. level .. ':' .. group)) or 0) > 0 then return true end
    return (try('ZCARD', key('groups:' .. level .. ':' .. group)) or 0) > 0
  end

  -- A group that is no longer full, and does not rest, may run again at the levels where it waits.
  function groups.return_held_back(group)
    local levels = has('held_back') and not groups.is_full(group) and not groups.is_blocked(group) and call('HGET', key('held_back'), group)
    if not levels or groups.note_rest(group) then return false end
    call('HDEL', key('held_back'), group)
    local most = rule_of(group).at_once
    for level in string.gmatch(levels, '%d') do
      if groups.waits(level, group) then
        enter(level, group)
        fresh = fresh + math.min(most and most - slots_of(group) or 1000, rates.free(group))
      end
    end
    return true
  end
  -- Lets an ordered group go on that waits for this job, because the job has ended or is about to be its head again.
  -- Returns whether it waited for the job.
  function groups.unblock(id, body)
    if not has('blocked') then return false end
    local _, _, _, _, _, _, group = header(body or call('HGET', key('body'), id))
    if not group or call('HGET', key('blocked'), group) ~= id then return false end
    call('HDEL', key('blocked'), group)
    groups.return_held_back(group)
    return true
  end
  -- Lets groups run again whose rest is over, at most so many. Returns how many.
  function groups.return_rested(most)
    local rested = rates.rested(most)
    for _, group in ipairs(rested) do
      if group == WHOLE_QUEUE then fresh = fresh + rates.free(group) else groups.return_held_back(group) end
    end
    if #rested > 0 and has('quarantined') then fresh = fresh + 1 end
    return #rested
  end

  -- After a change of a rule: looks at some of the groups that are held back. The next calls look at the others.
  function groups.reconsider(cursor)
    rules.forget()
    if not has('held_back') then cursor = '0' else
      local page = call('HSCAN', key('held_back'), cursor, 'COUNT', 500)
      for i = 1, #page[2], 2 do groups.return_held_back(page[2][i]) end
      cursor = page[1]
    end
    if has('quarantined') then fresh = fresh + 1 end
    if call('HDEL', key('runtime'), 'held_back') == 1 then fresh = fresh + 1000 end
    if cursor ~= '0' then call('HSET', key('runtime'), 'reconsider', cursor) else call('HDEL', key('runtime'), 'reconsider') end
    return cursor ~= '0'
  end

  -- The whole queue has no set of slots: the claims are counted. A call that found it full has noted that.
  local is_queue_held_back
  local function free_slot_of_queue(text, is_released)
    if is_released then rates.refund(WHOLE_QUEUE, made_at(text)) end
    if is_queue_held_back == nil then is_queue_held_back = call('HDEL', key('runtime'), 'held_back') == 1 end
    if is_queue_held_back then fresh = fresh + 1 end
  end
  function groups.count_claims()
    local count = 0
    for _, session in ipairs(call('ZRANGE', key('sessions'), 0, -1)) do count = count + (try('HLEN', claims_key(session)) or 0) end
    return count
  end

  local last_text, group
  function groups.free_slot(id, text, is_released)
    free_slot_of_queue(text, is_released)
    if text ~= last_text then last_text, group = text, groups.of_claim(text) end
    if not group then return end
    for _, part in ipairs(groups.limited(group)) do
      if rule_of(part).at_once then change_slot('SREM', part, id, -1) end
      if is_released then rates.refund(part, made_at(text)) end
      groups.return_held_back(part)
    end
    if has('quarantined') then fresh = fresh + 1 end
  end

  -- `waiting` has the number of entries in the lists of all second parts of a first part.
  function groups.count_second_parts(group, by)
    local first, second = parts_of(group)
    if not second then return end
    local count = num(try('HGET', key('waiting'), first)) + by
    if count > 0 then try('HSET', key('waiting'), first, count) else try('HDEL', key('waiting'), first) end
  end
  -- The number of entries in the lists of a group, and of its second parts if it is a first part.
  function groups.count_waiting(group)
    local count = math.max(0, num(try('HGET', key('waiting'), group)))
    for level = 0, 9 do count = count + (try('LLEN', key('group:' .. level .. ':' .. group)) or 0) end
    return count
  end

  function groups.note_added(name, length, added)
    local level, group = parse_list(name)
    groups.count_second_parts(group, added)
    if length == added then return groups.note_list(level, group, length) end
    call('ZADD', key('backlog'), length, level .. ':' .. group)
    known.backlog = true
    return (must_wait(group) or must_wait((parts_of(group)))) and 0 or added
  end
  -- Notes a list whose group may run from now on. Returns how many sessions to wake for it.
  function groups.note_list(level, group, length)
    call('ZADD', key('backlog'), length, level .. ':' .. group)
    known.backlog = true
    enter(level, group)
    return (must_wait(group) or must_wait((parts_of(group)))) and 0 or length
  end
  -- Notes that a number of entries was removed from a list otherwise than by a claim.
  function groups.note_removed(name, count)
    local level, group = parse_list(name)
    if not group then return end
    groups.count_second_parts(group, -count)
    local length = try('LLEN', key(name)) or 0
    if length > 0 then return call('ZADD', key('backlog'), length, level .. ':' .. group) end
    call('ZREM', key('backlog'), level .. ':' .. group)
    local first, second = parts_of(group)
    if second then
      leave(level .. ':' .. first, second)
      forget_held_back(group, level)
    end
    if groups.waits(level, first) then return end
    leave(level, first)
    forget_held_back(first, level)
  end
end)
