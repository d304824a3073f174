-- The positions of jobs: each job must have exactly one.
-- The places of a job except ready lists, which have no command to look up an entry quickly.
local holding
local function places_of(id)
  holding = holding or sessions()
  local places = {}
  for _, part in ipairs({ 'scheduled', 'retrying', 'dead' }) do
    if score(part, id) then places[#places + 1] = part end
  end
  for _, session in ipairs(holding) do
    local claims = claims_of(session)
    if claims and call('HEXISTS', claims, id) == 1 then places[#places + 1] = 'claims:' .. session end
  end
  local text = field('unique:of', id)
  local holder = text and field('unique', text)
  if holder and holder ~= id and successor_of(holder) == id then places[#places + 1] = 'successors' end
  if has_field('blocked:jobs', id) then places[#places + 1] = 'blocked:jobs' end
  return places
end

-- How often an entry is in a list. This is the one command whose cost grows with the length of the list.
local function times(list_name, entry)
  if call('EXISTS', key(list_name)) == 0 or wrong_type(list_name, 'list') then return 0 end
  return #call('LPOS', key(list_name), entry, 'COUNT', 0)
end

-- The places of a job, and the ready lists that contain it, each as often as it does.
local function all_places_of(id, entry)
  local lists, asked = {}, ready_lists()
  local body = field('body', id)
  local _, _, _, fragment = header(body)
  local operation = fragment and string.match(fragment, '^"operation":"([%w_.-]+)"')
  -- If there are thousands of invented operations, only the job's own is searched.
  if has('unroutable') and call('HLEN', key('unroutable')) <= 1000 then asked = all_lists()
  elseif operation then asked[#asked + 1] = 'unroutable:' .. unroutable_field(operation, body) end
  for _, own in ipairs(lists_of(body)) do
    if parse_list(own) then asked[#asked + 1] = own end
  end
  for _, list_name in ipairs(asked) do
    for _ = 1, times(list_name, entry) do lists[#lists + 1] = list_name end
  end
  -- The tombstones of an entry may exceed its occurrences.
  for _ = 1, math.min(num(field('tombstones', entry)), #lists) do lists[#lists] = nil end
  return places_of(id), lists
end

-- Lists for each id: the id, the number of places except ready lists (-1: the job is gone), and the ready list that it
-- should be in otherwise.
function steps.examine()
  for i = 3, #ARGV do
    local id = ARGV[i]
    local body = field('body', id)
    local list_name = list_of(body)
    if num(field('crashes', id)) >= QUARANTINE_AFTER then list_name = 'quarantined' end
    add(id, body and #places_of(id) or -1, list_name)
  end
end

-- Removes the job from ready lists first, then from the due sets, then from the dead: a claim and a succession stay.
local function keep_one(places, lists, entry)
  local left = #places + #lists
  for _, list_name in ipairs(lists) do
    if left > 1 and call('LREM', key(list_name), 1, entry) == 1 then
      left = left - 1
      groups.note_removed(list_name, 1)
    end
  end
  for _, part in ipairs({ 'scheduled', 'retrying', 'dead' }) do
    for _, place in ipairs(places) do
      if left > 1 and place == part then left = left - call('ZREM', key(part), ARGV[3]) end
    end
  end
  return left == 1
end

-- A job that was dead when its position was lost. The newest error of a job that was retried by hand is also its death,
-- but its attempts start again.
local function was_dead(id)
  local last = field('errors', id)
  local ran = num(field('failures', id)) + num(field('crashes', id)) > 0
  return ran and last and string.find(last, '^{"event":"dead"')
end

local function restore_position(id, body, due)
  delete_field('alias', entry_of(id))
  delete_field('alias:of', id)
  if not was_dead(id) then return moves.enqueue(id, body, due) end
  free_name(id)
  call('ZADD', key('dead'), nowtext, id)
end

-- An id and its due time: checks within this one script that the job has exactly one position.
function steps.confirm()
  local id = name
  local body = field('body', id)
  if not body then return end
  local entry = entry_of(id)
  local places, lists = all_places_of(id, entry)
  if #places + #lists == 0 then finding('body_without_position', id, function() restore_position(id, body, num(position)) end)
  elseif #places + #lists > 1 then finding('several_places', id, function() keep_one(places, lists, entry) end) end
end

-- An entry: checks that ready lists contain it at least as often as it has tombstones.
function steps.tombstone()
  local tombs, entries = num(field('tombstones', name)), 0
  local names = all_lists()
  -- With very many groups nothing is reported, because not all of their lists can be looked at.
  if has('backlog') and call('ZCARD', key('backlog')) > 1000 then return end
  for _, member in ipairs(has('backlog') and call('ZRANGE', key('backlog'), 0, -1) or {}) do names[#names + 1] = 'group:' .. member end
  for _, list_name in ipairs(names) do entries = entries + times(list_name, name) end
  if not field('tombstones', name) or (tombs > 0 and tombs <= entries) then return end
  finding('tombstone_without_entry', name, function()
    if entries > 0 then set_field('tombstones', name, entries) else delete_field('tombstones', name) end
  end)
end
