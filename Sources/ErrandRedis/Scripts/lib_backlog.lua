-- The backlog of groups, which has the number of entries of each list, while a call takes entries from lists.
local backlog = {}
on_use(backlog, function()
  -- The lengths of lists, as far as they are known, and how many entries were taken from each.
  local lengths, taken = {}, {}

  -- Reads the lengths of lists from which an entry was popped, as they were before.
  function backlog.read(names)
    local members, unread = {}, {}
    for i, name in ipairs(names) do
      if not lengths[name] and name ~= names[i - 1] then
        local member = string.match(name, '^group:(.+)$')
        if member then unread[#unread + 1], members[#members + 1] = name, member end
      end
    end
    local scores = #members > 0 and try('ZMSCORE', key('backlog'), unpack(members)) or {}
    for i, name in ipairs(unread) do lengths[name] = num(scores[i]) end
  end

  function backlog.take(name)
    taken[name] = (taken[name] or 0) + 1
    if lengths[name] then lengths[name] = lengths[name] - 1 end
  end

  -- Looks at a list, and returns whether it is empty.
  function backlog.look(name)
    lengths[name] = try('LLEN', key(name)) or 0
    return lengths[name] == 0
  end
  -- Whether a list is empty. A list that is empty by a wrong backlog is looked at.
  function backlog.is_empty(name) return (lengths[name] or 0) <= 0 and backlog.look(name) end

  function backlog.save()
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
      if group then groups.count_second_parts(group, -count) end
    end
    each_portion(some, 1000, 'ZADD', key('backlog'))
    each_portion(none, 1000, 'ZREM', key('backlog'))
    lengths, taken = {}, {}
  end
end)
