-- Shares: takes the jobs of groups, one after the other, each from the group with the lowest virtual time.
local shares = {}
on_use(shares, function()
  -- What a claim of cost 1 adds to the virtual time of a group of weight 1; by run time, what a millisecond adds.
  local CHARGE = 1000
  -- What each claim is charged in ms, if that is by run time.
  local estimate
  local level

  -- The children of a node by virtual time, from `head` to `last`.
  local function insert(node, child)
    local list, i, time, name = node.list, node.last + 1, child.time, child.name
    while i > node.head and (list[i - 1].time > time or (list[i - 1].time == time and list[i - 1].name > name)) do
      list[i] = list[i - 1]
      i = i - 1
    end
    list[i], node.last = child, node.last + 1
  end
  local function remove_first(node)
    node.list[node.head] = nil
    node.head = node.head + 1
  end

  -- Reads the groups of a node with the lowest virtual times: at the root as many as this call can take jobs from, below
  -- few at first. `own` is the list of jobs that are in none of them; it is a child without a name.
  local function load(node)
    local flat = try('ZRANGE', key('groups:' .. node.name), 0, node.most, 'WITHSCORES') or {}
    node.list, node.head, node.last, node.gone, node.left, node.changed, node.horizon = {}, 1, 0, {}, {}, {}, nil
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

  local save
  do
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
    -- Writes the virtual times of a node. Those that the present one has passed are forgotten: in each call more than it adds,
    -- so that none of them takes long.
    function save(node)
      open_nodes[node.name] = nil
      local gone = {}
      for name in pairs(node.gone) do gone[#gone + 1] = name end
      local present, left = key('groups:' .. node.name), key('left:' .. node.name)
      node.left['*'] = node.present
      write('ZADD', present, flat_of(node.changed))
      write('ZREM', present, gone)
      write('ZADD', left, flat_of(node.left))
      local most = math.min(16 + 2 * looked, 1000)
      local passed = try('ZRANGEBYSCORE', left, '-inf', '(' .. whole(node.present), 'LIMIT', 0, most) or {}
      if #passed > 0 then try('ZREM', left, unpack(passed)) end
      call('PEXPIRE', left, whole(SHARES_MS))
    end
  end

  -- The groups with a limit or a rate that were passed over, because no slot of the worker is free. They stay eligible.
  local MOST_PASSED_OVER = 16
  -- Whether a child comes before all that were not read.
  local function is_certain(node, child)
    local last = node.horizon
    return not last or (child ~= nil and (child.time < last.time or (child.time == last.time and child.name <= last.name)))
  end
  local function first_of(node)
    if passed_over >= MOST_PASSED_OVER then return nil end
    local child = node.list[node.head]
    if is_certain(node, child) then return child end
    save(node)
    node.most = math.min(2 * node.most, 1000)
    load(node)
    return node.list[node.head]
  end

  local function leaves(node, child)
    remove_first(node)
    node.changed[child.name] = nil
    node.left[child.name] = child.time
    if child.name ~= '' then node.gone[child.name] = true end
    looked = looked + 1
  end
  local take_from
  do
    local function pass_over(node, child)
      remove_first(node)
      node.passed[child.name] = true
      passed_over = passed_over + 1
      looked = looked + 1
    end
    local function has_limit(group)
      local rule = rule_of(group)
      return rule.at_once or rule.interval
    end

    -- Takes an entry of a list. Returns whether it was claimed; nil if the list is empty.
    local function take_entry(name)
      local entries = try('LPOP', key(name), 1)
      if not entries then return nil end
      looked = looked + 1
      backlog.take(name)
      local before = #ids
      claimed_cost = 1
      claim(resolve(entries))
      return #ids > before
    end

    local function sub_of(node, child)
      if node.subs == nil or child.name == '' or not has('waiting') then return nil end
      local name = node.name .. ':' .. child.name
      local sub = node.subs[name]
      if not sub and (try('ZCARD', key('groups:' .. name)) or 0) > 0 then
        sub = load({ name = name, own = 'group:' .. name, prefix = child.name .. '/', passed = {}, most = 4 })
        node.subs[name] = sub
      end
      return sub
    end

    local function returns(node, child)
      remove_first(node)
      node[child.name == '' and 'left' or 'changed'][child.name] = child.time
      insert(node, child)
    end

    -- Takes a job from the first group of a node. Returns whether it was claimed; nil if no group of the node may run.
    function take_from(node)
      local child = first_of(node)
      if not child then return nil end
      local is_group = child.name ~= ''
      local group = node.prefix .. child.name
      if is_group and must_wait(group) then
        groups.hold_back(group, level)
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
        is_empty = backlog.look(name)
      elseif claimed then is_empty = first_of(sub) == nil and not next(sub.passed) end
      if claimed then
        node.present = child.time
        child.time = child.time + math.max(1, math.floor(CHARGE * (estimate or claimed_cost) / (is_group and rule_of(group).weight or 1)))
      end
      if is_group and not is_empty and must_wait(group) then
        groups.hold_back(group, level)
        leaves(node, child)
      elseif is_empty then leaves(node, child)
      else returns(node, child) end
      return claimed or false
    end
  end

  local take_several
  do
    -- Entries of the first groups of a node, as far as they come before any of them could come again: those of a turn from
    -- each.
    local function pop_several(node, most, turn)
      local n, first = math.min(most, portion()), first_of(node)
      local before, children, names, entries = first and first.time + CHARGE, {}, {}, {}
      while first and #entries < n do
        local child = node.list[node.head]
        if not child or child.time >= before or not is_certain(node, child) then break end
        local group = child.name ~= '' and node.prefix .. child.name
        local name = group and 'group:' .. level .. ':' .. group or node.own
        local waits = group and must_wait(group)
        local popped = not waits and try('LPOP', key(name), math.min(turn, most - #entries))
        if popped then
          remove_first(node)
          for _, entry in ipairs(popped) do
            local i = #entries + 1
            children[i], names[i], entries[i] = child, name, entry
          end
        else
          if waits then
            groups.hold_back(group, level)
            skipped = skipped + 1
          else backlog.look(name) end
          leaves(node, child)
        end
      end
      return children, names, entries
    end

    -- A child from which entries were taken is one of the node's again, unless it has no more jobs.
    local function return_child(node, child, name, has_more)
      if not has_more and backlog.is_empty(name) then
        node.changed[child.name], node.left[child.name], node.gone[child.name] = nil, child.time, child.name ~= '' or nil
        looked = looked + 1
      else
        node[child.name == '' and 'left' or 'changed'][child.name] = child.time
        insert(node, child)
      end
    end

    -- Claims an entry, which may be a tombstone or stand for another job.
    local function claim_entry(entry, body, is_sound)
      local before = #ids
      claimed_cost = 1
      if has('tombstones') or has('alias') then claim(resolve({ entry })) else claim_one(entry, body, is_sound) end
      return #ids > before
    end

    -- Takes jobs of several groups of a queue without rules. It is as if they were taken one after the other: if one cannot
    -- be claimed, or no room is left, the entries behind it return to their lists.
    function take_several(node, most, turn)
      local children, names, entries = pop_several(node, most, turn)
      if #entries == 0 then return node.list[node.head] and 0 or nil end
      backlog.read(names)
      local stored, is_sound = call('HMGET', key('body'), unpack(entries)), are_sound(entries)
      local done, count, claimed = 0, 0, true
      while done < #entries and claimed and room > 0 do
        done = done + 1
        local child, name = children[done], names[done]
        looked = looked + 1
        backlog.take(name)
        claimed = claim_entry(entries[done], stored[done], is_sound)
        if claimed then
          count = count + 1
          if children[done - 1] ~= child then node.present = child.time end
          child.time = child.time + math.max(1, CHARGE * claimed_cost)
        end
        local has_more = children[done + 1] == child
        if not has_more or not claimed or room <= 0 then return_child(node, child, name, has_more) end
      end
      for i = #entries, done + 1, -1 do
        call('LPUSH', key(names[i]), entries[i])
        if children[i - 1] ~= children[i] then insert(node, children[i]) end
      end
      return count
    end
  end

  -- Takes up to `most` jobs of a level, with and without a group.
  function shares.take(of_level, most)
    level = tostring(of_level)
    local uncharged_claim = default_claim
    estimate = has('flow') and run_time.estimate()
    if estimate then
      charge = ' ' .. level .. ' ' .. whole(estimate)
      default_claim = claim_text(token, hard_deadline(nil, claim_margin, default_duration), nil, charge)
    end
    local root = load({ name = level, own = 'ready:' .. level, prefix = '', subs = {}, passed = {}, most = math.min((has('flow') and math.min(wanted, free_slots) or wanted) + MOST_PASSED_OVER, 1000) })
    local is_simple = not (has('flow') or has('waiting'))
    -- A call that claims many jobs, which are short, takes several of a group in its turn.
    local turn = math.max(1, math.min(8, math.floor(wanted / 64)))
    while most > 0 and room > 0 and looked < 2000 do
      local claimed
      if is_simple then claimed = take_several(root, most, turn) else claimed = take_from(root) end
      if claimed == nil then break end
      if claimed then most = most - (claimed == true and 1 or claimed) end
    end
    for _, sub in pairs(root.subs) do save(sub) end
    save(root)
    backlog.save()
    default_claim, charge = uncharged_claim, nil
    return most
  end
end)
