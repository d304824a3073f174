-- Shares: takes the jobs of groups, one after the other, each from the group with the lowest virtual time.
local take_groups
do
  -- What a claim of cost 1 adds to the virtual time of a group of weight 1; by run time, what a millisecond adds.
  local CHARGE = 1000
  -- What each claim is charged in ms, if that is by run time.
  local estimate
  local level
  -- The lengths of the lists that were taken from, and how many entries were taken from each.
  local lengths, taken

  local function insert(node, child)
    local list, i = node.list, #node.list + 1
    while i > 1 and (list[i - 1].time > child.time or (list[i - 1].time == child.time and list[i - 1].name > child.name)) do
      list[i] = list[i - 1]
      i = i - 1
    end
    list[i] = child
  end

  -- Reads the groups of a node with the lowest virtual times: at the root as many as this call can take jobs from, below
  -- few at first. `own` is the list of jobs that are in none of them; it is a child without a name.
  local function load(node)
    local flat = try('ZRANGE', key('groups:' .. node.name), 0, node.most, 'WITHSCORES') or {}
    node.list, node.gone, node.left, node.changed, node.horizon = {}, {}, {}, {}, nil
    for i = 1, #flat, 2 do
      if not node.passed[flat[i]] then insert(node, { name = flat[i], time = tonumber(flat[i + 1]) }) end
    end
    local last = #flat / 2
    if last > node.most then node.horizon = { time = tonumber(flat[2 * last]), name = flat[2 * last - 1] } end
    node.present = tonumber(try('ZSCORE', key('left:' .. node.name), '*') or flat[2] or 0)
    if (try('LLEN', key(node.own)) or 0) > 0 then
      insert(node, { name = '', time = math.max(node.present, tonumber(try('ZSCORE', key('left:' .. node.name), '') or 0)) })
    end
    open_nodes[node.name] = node
    return node
  end

  local function flat_of(times)
    local flat = {}
    for name, time in pairs(times) do
      flat[#flat + 1] = whole(time)
      flat[#flat + 1] = name
    end
    return flat
  end
  local function write(command, target, list)
    for from = 1, #list, 1000 do try(command, target, unpack(list, from, math.min(from + 999, #list))) end
  end
  -- Writes the virtual times of a node. Those that the present one has passed are forgotten, some a call.
  local function save(node)
    open_nodes[node.name] = nil
    local gone = {}
    for name in pairs(node.gone) do gone[#gone + 1] = name end
    local groups, left = key('groups:' .. node.name), key('left:' .. node.name)
    node.left['*'] = node.present
    write('ZADD', groups, flat_of(node.changed))
    write('ZREM', groups, gone)
    write('ZADD', left, flat_of(node.left))
    local passed = try('ZRANGEBYSCORE', left, '-inf', '(' .. whole(node.present), 'LIMIT', 0, 1000) or {}
    if #passed > 0 then try('ZREM', left, unpack(passed)) end
    call('PEXPIRE', left, whole(SHARES_MS))
  end

  -- The groups with a limit or a rate that were passed over, because no slot of the worker is free. They stay eligible.
  local MOST_PASSED_OVER = 16
  local function pass_over(node, child)
    table.remove(node.list, 1)
    node.passed[child.name] = true
    passed_over = passed_over + 1
    looked = looked + 1
  end
  local function has_limit(group)
    local rule = rule_of(group)
    return rule.at_once or rule.interval
  end

  local function first_of(node)
    if passed_over >= MOST_PASSED_OVER then return nil end
    local child, last = node.list[1], node.horizon
    if not last or (child and (child.time < last.time or (child.time == last.time and child.name <= last.name))) then return child end
    save(node)
    node.most = math.min(2 * node.most, 1000)
    return load(node).list[1]
  end

  -- Takes an entry of a list. Returns whether it was claimed; nil if the list is empty.
  local function take_entry(name)
    local entries = try('LPOP', key(name), 1)
    if not entries then return nil end
    looked = looked + 1
    taken[name] = (taken[name] or 0) + 1
    local before = #ids
    claimed_cost = 1
    claim(resolve(entries))
    return #ids > before
  end

  local function sub_of(node, child)
    if node.subs == nil or child.name == '' then return nil end
    local name = node.name .. ':' .. child.name
    local sub = node.subs[name]
    if not sub and (try('ZCARD', key('groups:' .. name)) or 0) > 0 then
      sub = load({ name = name, own = 'group:' .. name, prefix = child.name .. '/', passed = {}, most = 4 })
      node.subs[name] = sub
    end
    return sub
  end

  local function leaves(node, child)
    table.remove(node.list, 1)
    node.changed[child.name] = nil
    node.left[child.name] = child.time
    if child.name ~= '' then node.gone[child.name] = true end
    looked = looked + 1
  end
  local function moves(node, child)
    table.remove(node.list, 1)
    node[child.name == '' and 'left' or 'changed'][child.name] = child.time
    insert(node, child)
  end

  -- Takes a job from the first group of a node. Returns whether it was claimed; nil if no group of the node may run.
  local function take_from(node)
    local child = first_of(node)
    if not child then return nil end
    local is_group = child.name ~= ''
    local group = node.prefix .. child.name
    if is_group and must_wait(group) then
      hold_back(group, level)
      leaves(node, child)
      skipped = skipped + 1
      return false
    end
    if is_group and #ids >= free_slots and has_limit(group) then
      pass_over(node, child)
      return false
    end
    local sub, name = sub_of(node, child), is_group and 'group:' .. level .. ':' .. group or node.own
    local claimed
    if sub then claimed = take_from(sub) else claimed = take_entry(name) end
    if sub and claimed == nil and next(sub.passed) then
      pass_over(node, child)
      return false
    end
    local is_empty = claimed == nil
    if not sub then
      lengths[name] = try('LLEN', key(name)) or 0
      is_empty = lengths[name] == 0
    elseif claimed then is_empty = first_of(sub) == nil and not next(sub.passed) end
    if claimed then
      node.present = child.time
      child.time = child.time + math.max(1, math.floor(CHARGE * (estimate or claimed_cost) / (is_group and rule_of(group).weight or 1)))
    end
    if is_group and not is_empty and must_wait(group) then
      hold_back(group, level)
      leaves(node, child)
    elseif is_empty then leaves(node, child)
    else moves(node, child) end
    return claimed or false
  end

  local function save_lengths()
    local some, none = {}, {}
    for name, length in pairs(lengths) do
      local member = string.match(name, '^group:(.+)$')
      if member and length > 0 then
        some[#some + 1] = length
        some[#some + 1] = member
      elseif member and (try('LLEN', key(name)) or 0) == 0 then none[#none + 1] = member end
    end
    for name, count in pairs(taken) do
      local _, group = parse_list(name)
      if group then note_taken(group, count) end
    end
    each_portion(some, 1000, 'ZADD', key('backlog'))
    each_portion(none, 1000, 'ZREM', key('backlog'))
  end

  -- Takes up to `most` jobs of a level, with and without a group.
  function take_groups(of_level, most)
    level, lengths, taken = tostring(of_level), {}, {}
    local uncharged_claim = default_claim
    estimate = run_time.estimate()
    if estimate then
      charge = ' ' .. level .. ' ' .. whole(estimate)
      default_claim = claim_text(token, hard_deadline(nil, claim_margin, default_duration), nil, charge)
    end
    local root = load({ name = level, own = 'ready:' .. level, prefix = '', subs = {}, passed = {}, most = math.min(wanted + MOST_PASSED_OVER, 1000) })
    while most > 0 and room > 0 and looked < 2000 do
      local claimed = take_from(root)
      if claimed == nil then break end
      if claimed then most = most - 1 end
    end
    for _, sub in pairs(root.subs) do save(sub) end
    save(root)
    save_lengths()
    default_claim, charge = uncharged_claim, nil
    return most
  end
end
