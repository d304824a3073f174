-- What the jobs of a push change, written with one command a key: bodies, entries, names and aliases of new jobs, and the
-- removal of those that are replaced.
local bodies, entries, seen = {}, {}, {}
local names_of, holders_of, aliases, aliases_of, replaced = {}, {}, {}, {}, {}
local function gather_name(id, name)
  local n = #names_of
  names_of[n + 1], names_of[n + 2] = id, name
  holders_of[n + 1], holders_of[n + 2] = name, id
end
local function gather(id, envelope, due)
  local n = #bodies
  bodies[n + 1], bodies[n + 2] = id, stamp .. envelope
  seen[id] = true
  if not is_due(due) then
    call('ZADD', key('scheduled'), due, id)
    known.scheduled = true
  else
    local name = list_name(envelope)
    local list = entries[name]
    if not list then
      list = {}
      entries[name] = list
    end
    list[#list + 1] = entry_for(id)
    fresh = fresh + 1
  end
end
-- Removes what is stored of the jobs that were replaced.
local function remove_replaced()
  endings.forget_side_records(replaced)
  for _, name in ipairs({ 'unique:of', 'alias:of', 'debounced', 'body' }) do
    if has(name) then each_portion(replaced, 1000, 'HDEL', key(name)) end
  end
  replaced = {}
end
local function write_gathered()
  each_portion(bodies, 1000, 'HSET', key('body'))
  for name, list in pairs(entries) do
    each_portion(list, 1000, 'RPUSH', key(name))
    if parse_list(name) then fresh = fresh - #list + note_added(name, call('LLEN', key(name)), #list) end
  end
  if #names_of > 0 then
    each_portion(names_of, 1000, 'HSET', key('unique:of'))
    each_portion(holders_of, 1000, 'HSET', key('unique'))
    known['unique:of'], known.unique = true, true
  end
  if #aliases > 0 then
    each_portion(aliases, 1000, 'HSET', key('alias'))
    each_portion(aliases_of, 1000, 'HSET', key('alias:of'))
    known.alias, known['alias:of'] = true, true
  end
  if #replaced > 0 then remove_replaced() end
  bodies, entries, names_of, holders_of, aliases, aliases_of = {}, {}, {}, {}, {}, {}
end
