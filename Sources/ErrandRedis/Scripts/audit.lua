-- audit: looks for broken invariants, and mends them when asked.
--
-- ARGV     1 to mend, bodies at the most
-- Answer   1 when everything was looked at (0: the queue is larger than the bound), then kind, subject and 1 if mended of each finding
local mending, limit = ARGV[1] == '1', num(ARGV[2])
local found = {}
local function finding(kind, subject, mend)
  found[#found + 1] = kind
  found[#found + 1] = subject
  if mending and mend then mend() end
  found[#found + 1] = mending and mend and 1 or 0
end

-- Where each id is. Tombstones are taken off by their count.
local places, complete = {}, 1
local dead_too = { named = true, running = true, stops = true, place = true }
local function placed(id, where)
  places[id] = places[id] or {}
  table.insert(places[id], where)
end
local tombs = {}
local gone = call('HGETALL', Q .. ':gone')
for i = 1, #gone, 2 do tombs[gone[i]] = num(gone[i + 1]) end

local lines_of = { 'suspects' }
for level = 0, 9 do lines_of[#lines_of + 1] = 'ready:' .. level end
for _, operation in ipairs(call('HKEYS', Q .. ':parked')) do lines_of[#lines_of + 1] = 'parked:' .. operation end
local whole_queue = call('HLEN', Q .. ':body') <= limit
if not whole_queue then complete = 0 end

local function walk_line(name)
  for _, entry in ipairs(call('LRANGE', Q .. ':' .. name, 0, -1)) do
    if (tombs[entry] or 0) > 0 then tombs[entry] = tombs[entry] - 1
    else placed(call('HGET', Q .. ':stand', entry) or entry, name) end
  end
end
if whole_queue then
  for _, name in ipairs(lines_of) do walk_line(name) end
  for _, name in ipairs({ 'scheduled', 'retrying', 'dead' }) do
    for _, id in ipairs(call('ZRANGE', Q .. ':' .. name, 0, -1)) do placed(id, name) end
  end
end

for _, session in ipairs(call('ZRANGE', Q .. ':sessions', 0, -1)) do
  local claims = call('HGETALL', Q .. ':claims:' .. session)
  for i = 1, #claims, 2 do
    placed(claims[i], 'claims:' .. session)
    if not string.find(claims[i + 1], '^%d+:%d+$') then
      finding('claim_unreadable', claims[i], function() call('HSET', Q .. ':claims:' .. session, claims[i], '0:0') end)
    end
  end
  if call('EXISTS', Q .. ':session:' .. session) == 0 then
    finding('session_unknown', session, function()
      call('ZADD', Q .. ':sessions', nowtext, session)
    end)
  end
end

local successions = call('HGETALL', Q .. ':next')
for i = 1, #successions, 2 do
  local holder, id = successions[i], string.match(successions[i + 1], '^%d+:(.+)$')
  if id and call('HEXISTS', Q .. ':body', holder) == 1 and call('HEXISTS', Q .. ':body', id) == 1 then placed(id, 'next')
  else
    finding('succession_without_job', holder, function()
      call('HDEL', Q .. ':next', holder)
      local body = id and call('HGET', Q .. ':body', id)
      if body and not places[id] then
        line_up(id, body, 0)
        placed(id, 'mended')
      end
    end)
  end
end

-- Lines are left first, then the due sets, then the dead: a claim and a succession stay.
local function leave_place(place, id)
  if string.find(place, '^ready') or place == 'suspects' or string.find(place, '^parked:') then
    return call('LREM', Q .. ':' .. place, 1, id) == 1
  end
  if place == 'scheduled' or place == 'retrying' or place == 'dead' then return call('ZREM', Q .. ':' .. place, id) == 1 end
end

if whole_queue then
  local bodies = call('HGETALL', Q .. ':body')
  for i = 1, #bodies, 2 do
    local id, where = bodies[i], places[bodies[i]]
    if not where then
      finding('body_without_place', id, function()
        -- The entry at which it stood is gone with its line.
        drop('stand', entry_of(id))
        drop('place', id)
        line_up(id, bodies[i + 1], 0)
      end)
    elseif #where > 1 then
      finding('several_places', id, function()
        local left = #where
        for _, place in ipairs(where) do
          if left > 1 and leave_place(place, id) then left = left - 1 end
        end
      end)
    end
  end
  for id, where in pairs(places) do
    if call('HEXISTS', Q .. ':body', id) == 0 and not field('ended', id) and not field('ended:old', id) then
      finding('place_without_body', id, function()
        for _, place in ipairs(where) do
          if string.find(place, '^claims:') then call('HDEL', Q .. ':' .. place, id)
          elseif place == 'scheduled' or place == 'retrying' or place == 'dead' then call('ZREM', Q .. ':' .. place, id)
          else call('LREM', Q .. ':' .. place, 0, id) end
        end
        bury(id)
      end)
    end
  end
end

-- Locks live exactly as long as their holders.
local names = call('HGETALL', Q .. ':names')
for i = 1, #names, 2 do
  local name, holder = names[i], names[i + 1]
  if call('HEXISTS', Q .. ':body', holder) == 0 or call('HGET', Q .. ':named', holder) ~= name or call('ZSCORE', Q .. ':dead', holder) then
    finding('lock_without_holder', name, function() call('HDEL', Q .. ':names', name) end)
  end
end
for _, side in ipairs({ 'named', 'running', 'stops', 'failures', 'crashes', 'alone', 'errors', 'place' }) do
  local ids = call('HLEN', Q .. ':' .. side) <= limit and call('HKEYS', Q .. ':' .. side) or {}
  for _, id in ipairs(ids) do
    if call('HEXISTS', Q .. ':body', id) == 0 or (dead_too[side] and call('ZSCORE', Q .. ':dead', id)) then
      finding(side .. '_without_job', id, function() call('HDEL', Q .. ':' .. side, id) end)
    end
  end
end
local stand = call('HGETALL', Q .. ':stand')
for i = 1, #stand, 2 do
  if call('HGET', Q .. ':place', stand[i + 1]) ~= stand[i] then
    finding('stand_without_place', stand[i], function()
      -- The place in line is the job's only one, unless it knows of another.
      local id = stand[i + 1]
      if call('HEXISTS', Q .. ':body', id) == 1 and not call('HGET', Q .. ':place', id) then put('place', id, stand[i])
      else call('HDEL', Q .. ':stand', stand[i]) end
    end)
  end
end
local place = call('HGETALL', Q .. ':place')
for i = 1, #place, 2 do
  if call('HGET', Q .. ':stand', place[i + 1]) ~= place[i] then
    finding('place_without_stand', place[i], function() call('HDEL', Q .. ':place', place[i]) end)
  end
end
for _, operation in ipairs(call('HKEYS', Q .. ':parked')) do
  if call('EXISTS', Q .. ':parked:' .. operation) == 0 then
    finding('parked_without_line', operation, function() call('HDEL', Q .. ':parked', operation) end)
  end
end
local running = call('HGETALL', Q .. ':running')
for i = 1, #running, 2 do
  if call('HEXISTS', Q .. ':claims:' .. running[i + 1], running[i]) == 0 and call('HEXISTS', Q .. ':body', running[i]) == 1 then
    finding('running_without_claim', running[i], function() call('HDEL', Q .. ':running', running[i]) end)
  end
end
for _, session in ipairs(call('SMEMBERS', Q .. ':idle')) do
  if not call('ZSCORE', Q .. ':sessions', session) then
    finding('idle_without_session', session, function() call('SREM', Q .. ':idle', session) end)
  end
end
if whole_queue then
  for i = 1, #gone, 2 do
    local entry, n = gone[i], num(gone[i + 1])
    if tombs[entry] > 0 or n <= 0 then
      finding('tombstone_without_entry', entry, function()
        if n > tombs[entry] then put('gone', entry, n - tombs[entry]) else call('HDEL', Q .. ':gone', entry) end
      end)
    end
  end
end
if mending then settle() end
return { complete, unpack(found, 1, math.min(#found, 3000)) }
