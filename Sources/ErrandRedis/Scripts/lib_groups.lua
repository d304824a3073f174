-- Groups of jobs: the rules for them, their lists, their virtual times, and the slots that their claims take.
--
-- A job with a group waits in `group:LEVEL:GROUP`. `groups:LEVEL` has the first parts of the groups that may run by
-- virtual time, and `groups:LEVEL:FIRST` the second parts of one of them. A group that is full is in `held_back`
-- instead, with the levels at which it waits. `left:…` has the virtual times of groups that have left `groups:…`, and as
-- `*` the present virtual time.
local list_of, note_added, note_removed, take_slot, free_slot, is_full, hold_back, return_held_back, weight_of
local most_at_once, waits, reconsider
-- A call to a key of one group. A key of a wrong type counts as missing; the doctor reports it.
local function try(...)
  local reply = redis.pcall(...)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if string.find(reply.err, '^WRONGTYPE') then return nil end
  error(reply)
end
-- The name of the list in which a ready job waits.
function list_of(body)
  local priority, _, _, _, _, _, group = header(body)
  return group and 'group:' .. priority .. ':' .. group or 'ready:' .. (priority or '5')
end
local function parse_list(name) return string.match(name, '^group:(%d):(.+)$') end
local function parts_of(group)
  local first, second = string.match(group, '^([^/]+)/(.+)$')
  return first or group, second
end
-- The groups whose slots a job takes: the first part of its group, and the group itself.
local function limited(group)
  local first = parts_of(group)
  return first == group and { first } or { first, group }
end
local function group_of_claim(text) return string.match(text, '^%d+:%d+:%d*:(.+)$') end

-- How long the virtual times of groups are kept when no job of their level is claimed.
local SHARES_MS = 60000
-- The nodes that a claim has in memory: a group that enters one of them must not be removed at the end.
local open_nodes = {}
do
  -- Whether a part of a group's name matches that of a pattern, in which * stands for any characters.
  local function matches(pattern, text)
    local literals = {}
    for literal in string.gmatch(pattern .. '*', '([^*]*)%*') do literals[#literals + 1] = literal end
    local last = literals[#literals]
    if #literals == 1 then return pattern == text end
    if string.sub(text, 1, #literals[1]) ~= literals[1] then return false end
    local at = #literals[1] + 1
    for i = 2, #literals - 1 do
      local _, ends = string.find(text, literals[i], at, true)
      if not ends then return false end
      at = ends + 1
    end
    return #text - #last + 1 >= at and string.sub(text, #text - #last + 1) == last
  end

  -- The rule whose pattern has the longest literal prefix applies. A pattern without * is longer than any with one.
  local rules, rule_by_group = nil, {}
  local function load_rules()
    rules = { {}, {} }
    local flat = has('flow') and call('HGETALL', key('flow')) or {}
    for i = 1, #flat, 2 do
      local star = string.find(flat[i], '*', 1, true)
      local prefix = star and string.sub(flat[i], 1, star - 1) or flat[i] .. '*'
      local of_parts = rules[string.find(flat[i], '/', 1, true) and 2 or 1]
      of_parts[prefix] = { pattern = flat[i], text = flat[i + 1] }
    end
  end
  local function applies(rule, group)
    local first, second = parts_of(group)
    local first_pattern, second_pattern = parts_of(rule.pattern)
    return matches(first_pattern, first) and (not second or matches(second_pattern, second))
  end
  -- No two patterns with as many parts have the same prefix, so that few have to be looked at.
  local function find_rule(group)
    local of_parts = rules[string.find(group, '/', 1, true) and 2 or 1]
    if of_parts[group .. '*'] then return of_parts[group .. '*'] end
    for length = #group, 0, -1 do
      local rule = of_parts[string.sub(group, 1, length)]
      if rule and applies(rule, group) then return rule end
    end
    return { text = '' }
  end
  local function rule_of(group)
    if not rules then load_rules() end
    local rule = rule_by_group[group]
    if rule then return rule end
    rule = find_rule(group)
    rule.at_once = tonumber(string.match(rule.text, '%f[%w_]at_once=(%d+)') or '')
    rule.weight = tonumber(string.match(rule.text, '%f[%w_]weight=(%d+)') or '')
    rule_by_group[group] = rule
    return rule
  end
  function weight_of(group) return rule_of(group).weight or 1 end
  function most_at_once(group) return rule_of(group).at_once end

  -- Slots: the ids of the jobs of a group that are claimed. A job with two parts takes one of each.
  local held = {}
  local function slots_of(group)
    if not held[group] then held[group] = try('SCARD', key('held:' .. group)) or 0 end
    return held[group]
  end
  local function change_slot(command, group, id, by)
    local changed = try(command, key('held:' .. group), id) or 0
    if held[group] then held[group] = held[group] + by * changed end
  end
  function is_full(group)
    local most = rule_of(group).at_once
    return most ~= nil and slots_of(group) >= most
  end
  function take_slot(group, id)
    for _, part in ipairs(limited(group)) do change_slot('SADD', part, id, 1) end
  end

  function hold_back(group, level)
    local levels = has('held_back') and call('HGET', key('held_back'), group) or ''
    if not string.find(levels, level, 1, true) then set_field('held_back', group, levels .. level) end
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
    if is_full(group) then
      hold_back(group, level)
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
  function waits(level, group)
    if (try('LLEN', key('group:' .. level .. ':' .. group)) or 0) > 0 then return true end
    return (try('ZCARD', key('groups:' .. level .. ':' .. group)) or 0) > 0
  end

  -- A group that is no longer full may run again at the levels where it waits.
  function return_held_back(group)
    local levels = has('held_back') and not is_full(group) and call('HGET', key('held_back'), group)
    if not levels then return false end
    call('HDEL', key('held_back'), group)
    local most = rule_of(group).at_once
    for level in string.gmatch(levels, '%d') do
      if waits(level, group) then
        enter(level, group)
        fresh = fresh + (most and most - slots_of(group) or 1000)
      end
    end
    return true
  end

  -- After a change of a rule: looks at some of the groups that are held back. The next calls look at the others.
  function reconsider(cursor)
    rules, rule_by_group = nil, {}
    if not has('held_back') then cursor = '0' else
      local page = call('HSCAN', key('held_back'), cursor, 'COUNT', 500)
      for i = 1, #page[2], 2 do return_held_back(page[2][i]) end
      cursor = page[1]
    end
    if has('quarantined') then fresh = fresh + 1 end
    if cursor ~= '0' then call('HSET', key('runtime'), 'reconsider', cursor) else call('HDEL', key('runtime'), 'reconsider') end
    return cursor ~= '0'
  end

  -- Frees the slots of a claim that ends, whatever ends it. This comes before the job's next state.
  local last_text, group
  function free_slot(id, text)
    if text ~= last_text then last_text, group = text, group_of_claim(text) end
    if not group then return end
    for _, part in ipairs(limited(group)) do
      change_slot('SREM', part, id, -1)
      return_held_back(part)
    end
    if has('quarantined') then fresh = fresh + 1 end
  end

  -- Notes that jobs were added to a list, which has this length now. Returns how many sessions to wake for them: none if
  -- the group is full.
  function note_added(name, length, added)
    local level, group = parse_list(name)
    if not group then return added end
    call('ZADD', key('backlog'), length, level .. ':' .. group)
    known.backlog = true
    if length == added then enter(level, group) end
    return (is_full(group) or is_full((parts_of(group)))) and 0 or added
  end
  -- Notes that jobs were removed from a list otherwise than by a claim.
  function note_removed(name)
    local level, group = parse_list(name)
    if not group then return end
    local length = try('LLEN', key(name)) or 0
    if length > 0 then return call('ZADD', key('backlog'), length, level .. ':' .. group) end
    call('ZREM', key('backlog'), level .. ':' .. group)
    local first, second = parts_of(group)
    if second then
      leave(level .. ':' .. first, second)
      forget_held_back(group, level)
    end
    if waits(level, first) then return end
    leave(level, first)
    forget_held_back(first, level)
  end
end
