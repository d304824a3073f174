-- Steps that check a page of one key, or whole keys.
function steps.keys()
  for _, types in ipairs({ TYPES, SELDOM, COMBINED, AT_TIMES, SCHEDULE_TYPES }) do
    for part, expected in pairs(types) do move_aside_if_corrupt(part, expected) end
  end
  for _, session in ipairs(sessions()) do
    move_aside_if_corrupt('session:' .. session, 'hash')
    move_aside_if_corrupt('claims:' .. session, 'hash')
    local ends = num(score('sessions', session))
    if ends > now + 172800000 or tonumber(score('sessions', session)) > 9e15 then
      finding('lease_endless', session, function() call('ZADD', key('sessions'), nowtext, session) end)
    end
    if call('EXISTS', session_key(session)) == 0 then
      finding('session_unknown', session, function()
        call('ZADD', key('sessions'), nowtext, session)
        call('HSET', session_key(session), 'host', '', 'beat', '0')
      end)
    end
  end
  if num(field('runtime', 'grace')) > now + 172800000 then
    finding('grace_endless', 'runtime', function() call('HDEL', key('runtime'), 'grace') end)
  end
  if has('history') and length('history:order') == 0 then
    finding('history_without_order', 'history', function()
      if call('HLEN', key('history')) > 20000 then return call('DEL', key('history')) end
      relist_history()
    end)
  end
  add(has('body') and call('HLEN', key('body')) or 0)
  for _, list_name in ipairs(ready_lists()) do
    local waiting = call('EXISTS', key(list_name)) == 1 and not wrong_type(list_name, 'list') and call('LLEN', key(list_name)) or 0
    if waiting > 0 then add(list_name, waiting) end
  end
  add('')
  for _, session in ipairs(sessions()) do add(session) end
end

-- Operations with unroutable jobs; lists the operations with a list, and its length.
function steps.operations()
  each_field('unroutable', function(operation, counted)
    move_aside_if_corrupt('unroutable:' .. operation, 'list')
    local waiting = unroutable_length(operation)
    if waiting == 0 then finding('unroutable_without_list', operation, function() delete_field('unroutable', operation) end)
    elseif num(counted) ~= waiting then
      finding('unroutable_miscounted', operation, function() set_field('unroutable', operation, waiting) end)
    end
    if waiting > 0 then add('unroutable:' .. operation, waiting) end
  end)
end

-- A list of unroutable jobs, or claims, that a scan of all keys has found.
function steps.unroutable()
  if has_field('unroutable', name) or wrong_type('unroutable:' .. name, 'list') then return end
  local waiting = call('LLEN', key('unroutable:' .. name))
  if waiting > 0 then finding('unroutable_unlisted', name, function() set_field('unroutable', name, waiting) end) end
end
function steps.orphaned_claims()
  if call('EXISTS', claims_key(name)) == 0 or score('sessions', name) then return end
  -- With a lease in the past, recovery handles the session like any dead one.
  finding('claims_without_session', name, function()
    call('ZADD', key('sessions'), '1', name)
    known.sessions = true
  end)
end

local function no_body(id, remove)
  if has_ended(id) then return end
  finding('position_without_body', id, function()
    remove()
    endings.handle_stray(id)
  end)
end

function steps.claims()
  local full_key = claims_of(name)
  if not full_key then return end
  local last = num(field('runtime', 'token'))
  local page = scan('HSCAN', full_key)
  for i = 1, #page, 2 do
    local id, claim = page[i], page[i + 1]
    local token = num(string.match(claim, '^(%d+):%d+:?%d*'))
    if token == 0 then
      finding('claim_unreadable', id, function()
        local _, _, _, _, _, _, group = header(field('body', id) or '')
        claim = '1:1' .. (group and '::' .. group or '')
        call('HSET', full_key, id, claim)
      end)
    end
    if token > last then
      finding('token_forgotten', id, function() call('HSET', key('runtime'), 'token', whole(token)) end)
      last = token
    end
    if not has_field('body', id) then no_body(id, function()
        free_slot(id, claim)
        call('HDEL', full_key, id)
      end)
    else
      add(id)
      check_slots(id, claim)
      if field('unique:of', id) and field('running', id) ~= name then
        finding('claim_not_running', id, function() set_field('running', id, name) end)
      end
    end
  end
end

function steps.due()
  if not has(name) then return end
  local page = scan('ZSCAN', key(name))
  for i = 1, #page, 2 do
    local id = page[i]
    if has_field('body', id) then add(id) else no_body(id, function() call('ZREM', key(name), id) end) end
  end
end

-- From the end to the head, because claims constantly remove entries at the head. Lists ids, then, after an empty text,
-- entries with tombstones.
function steps.ready_list()
  local full_key, from, removed, tombs = key(name), num(position), 0, {}
  if call('EXISTS', full_key) == 0 or wrong_type(name, 'list') then return end
  local entries = call('LRANGE', full_key, -(from + most), -(from + 1))
  for i = #entries, 1, -1 do
    local entry = entries[i]
    if num(field('tombstones', entry)) > 0 then tombs[#tombs + 1] = entry
    else
      local id = field('alias', entry) or entry
      if has_field('body', id) then add(id)
      else
        no_body(id, function()
          call('LREM', full_key, -1, entry)
          delete_field('alias', entry)
          delete_field('alias:of', id)
          removed = removed + 1
        end)
      end
    end
  end
  local operation = removed > 0 and string.match(name, '^unroutable:(.+)$')
  if removed > 0 then groups.note_removed(name, removed) end
  if operation and call('LLEN', full_key) > 0 then set_field('unroutable', operation, call('LLEN', full_key))
  elseif operation then delete_field('unroutable', operation) end
  if #entries == most then next_position = whole(from + most - removed) end
  add('')
  add(unpack(tombs))
end

-- Lists the number of bytes on the page, ids, and, after an empty text, the jobs that lack the name they were pushed
-- with.
function steps.bodies()
  local size, nameless = 0, {}
  local ids = {}
  each_field('body', function(id, body)
    size = size + #body
    ids[#ids + 1] = id
    if string.find(body, '^%d%d%d%d%d%d%d%d%d%d%d%d%d[12][drk]') and not has_field('unique:of', id)
      and not score('dead', id) and not has_field('blocked:jobs', id) then
      nameless[#nameless + 1] = id
    end
  end)
  add(size)
  add(unpack(ids))
  add('')
  add(unpack(nameless))
end
