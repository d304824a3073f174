-- inspect: returns the records of jobs, by id or by a page of a state. Reads only.
--
-- Arguments  ids, then ids · or page, state, offset, the largest number of jobs
-- Reply      next offset, or how many of the ids were looked at (-1: all); then an array for each job: id, state ('' if
--            unknown), body, failures, crashes, at (ms; 0 if unknown), session, events (the last one and the errors,
--            separated by tabs), result, progress, time of the claim (ms; 0 if there is none), places in workflows (see
--            lib_workflows), position in the state (0 by ids). As many jobs as fit into 1 MiB, and at least one
local HOW = { f = 'finished', c = 'cancelled', r = 'replaced', x = 'deleted', e = 'expired', k = 'skipped' }
local sessions = call('ZRANGE', key('sessions'), 0, -1)

-- When a claim was made: the token implies it, unless the clock was set back.
local function time_of(claim)
  local token, made = string.match(claim, '^(%d+):%d+:?(%d*)')
  return made ~= '' and num(made) or math.floor(num(token) / 1000)
end

-- The sessions that hold claims of these jobs, and when they were made. There may be many of both, so one command asks a
-- session for all of them.
local holders, claimed_at = {}, {}
local function may_run(id)
  if call('HEXISTS', key('body'), id) == 0 or call('HEXISTS', key('blocked:jobs'), id) == 1 then return false end
  for _, name in ipairs({ 'scheduled', 'retrying', 'dead' }) do
    if call('ZSCORE', key(name), id) then return false end
  end
  return true
end
local function find_holders(asked)
  local ids = {}
  for _, id in ipairs(asked) do
    if may_run(id) then ids[#ids + 1] = id end
  end
  if #ids == 0 then return end
  for _, session in ipairs(sessions) do
    for i, claim in ipairs(call('HMGET', claims_key(session), unpack(ids))) do
      if claim and not holders[ids[i]] then holders[ids[i]], claimed_at[ids[i]] = session, time_of(claim) end
    end
  end
end

local function ended_record(id)
  local record = field('history', id)
  local letter, line, result = string.match(record or '', '^(%l)([^\n]*)\n(.*)$')
  local how = HOW[field('ended', id) or field('ended:old', id) or letter or '']
  local at = line and string.match(line, '"at_ms":(%d+),"duration_ms"')
  return { id, how or '', '', 0, 0, num(at), '', line or '', result or '', '', 0, '', 0 }
end

local function state_of(id)
  if call('HEXISTS', key('blocked:jobs'), id) == 1 then return 'blocked', 0, '' end
  for _, name in ipairs({ 'scheduled', 'retrying', 'dead' }) do
    local at = call('ZSCORE', key(name), id)
    if at then return name, num(at), '' end
  end
  local session = holders[id]
  if session then return 'running', 0, session, claimed_at[id] end
  local name = field('unique:of', id)
  local holder = name and field('unique', name)
  if holder and holder ~= id and string.match(field('successors', holder) or '', '^%d+:(.+)$') == id then return 'deferred', 0, '' end
  return 'ready', 0, ''
end

local function record_of(id, body, state, at, session, claimed)
  return {
    id, state, body, num(field('failures', id)), num(field('crashes', id)), at, session, field('errors', id) or '', '',
    field('progress', id) or '', claimed or 0, field('workflow:of', id) or '', 0,
  }
end

local function record(id)
  local body = call('HGET', key('body'), id)
  if not body then return ended_record(id) end
  return record_of(id, body, state_of(id))
end

local reply = { -1 }
local MOST_BYTES = 1048576
local bytes = 0
local function fits(found)
  bytes = bytes + #found[3] + #found[8] + #found[9]
  return #reply == 1 or bytes <= MOST_BYTES
end

if ARGV[1] == 'ids' then
  find_holders({ unpack(ARGV, 2) })
  for i = 2, #ARGV do
    local found = record(ARGV[i])
    if not fits(found) then
      reply[1] = i - 2
      return reply
    end
    reply[#reply + 1] = found
  end
  return reply
end

local state, offset, limit = ARGV[2], num(ARGV[3]), math.min(num(ARGV[4]), 500)
-- The places on the page: the text stored there, its position, and the time or the session that it implies.
local places, skipped, of_history = {}, 0, false

-- Treats consecutive parts as one list. Each part provides its length and a function that returns a slice of its
-- places.
local function page(length, slice)
  local from = math.max(offset - skipped, 0)
  local to = math.min(length, from + limit - #places) - 1
  if from <= to then
    for i, place in ipairs(slice(from, to)) do
      place.position = skipped + from + i - 1
      places[#places + 1] = place
    end
  end
  skipped = skipped + length
end

local function places_of(texts)
  local all = {}
  for i, text in ipairs(texts) do all[i] = { text = text } end
  return all
end

local function page_of_list(list)
  page(call('LLEN', list), function(from, to) return places_of(call('LRANGE', list, from, to)) end)
end

local function page_of_claims(session)
  local list = claims_key(session)
  page(call('HLEN', list), function(from, to)
    local all, flat = {}, call('HGETALL', list)
    for i = from, math.min(to, #flat / 2 - 1) do
      all[#all + 1] = { text = flat[2 * i + 1], session = session, claimed = time_of(flat[2 * i + 2]) }
    end
    return all
  end)
end

local function page_of_times(name, command)
  local zset = key(name)
  page(call('ZCARD', zset), function(from, to)
    local all, flat = {}, call(command, zset, from, to, 'WITHSCORES')
    for i = 1, #flat, 2 do all[#all + 1] = { text = flat[i], at = num(flat[i + 1]) } end
    return all
  end)
end

local function page_of_successors()
  local all = {}
  for _, successor_entry in ipairs(call('HVALS', key('successors'))) do all[#all + 1] = string.match(successor_entry, '^%d+:(.+)$') end
  page(#all, function(from, to) return places_of({ unpack(all, from + 1, to + 1) }) end)
end

local function page_of_blocked()
  page(call('ZCARD', key('blocked:order')), function(from, to)
    return places_of(call('ZRANGE', key('blocked:order'), from, to))
  end)
end

local function page_of_history()
  local order = key('history:order')
  page(call('LLEN', order), function(from, to)
    local all = {}
    for _, entry in ipairs(call('LRANGE', order, -to - 1, -from - 1)) do
      table.insert(all, 1, { text = string.match(entry, '^%d+:(.*)$') or '' })
    end
    return all
  end)
end

-- The lists of groups, the longest first, of which the first 5,000 are looked at.
local function page_of_groups()
  local flat = call('ZREVRANGE', key('backlog'), 0, 4999, 'WITHSCORES')
  for i = 1, #flat, 2 do
    if skipped > offset + limit then return end
    page(num(flat[i + 1]), function(from, to) return places_of(call('LRANGE', key('group:' .. flat[i]), from, to)) end)
  end
end

-- Thousands of invented operations must not make a page expensive: it looks at no more lists than it needs, and at none
-- beyond the first 5,000.
local function page_of_unroutable()
  local cursor, looked = '0', 0
  repeat
    local found = call('HSCAN', key('unroutable'), cursor, 'COUNT', 500)
    cursor = found[1]
    for i = 1, #found[2], 2 do
      if skipped > offset + limit then return end
      page_of_list(key('unroutable:' .. found[2][i]))
      looked = looked + 1
    end
  until cursor == '0' or looked >= 5000
end

if state == 'ready' then
  page_of_list(key('quarantined'))
  for level = 9, 0, -1 do page_of_list(key('ready:' .. level)) end
  page_of_groups()
  page_of_unroutable()
elseif state == 'scheduled' or state == 'retrying' then page_of_times(state, 'ZRANGE')
elseif state == 'dead' then page_of_times(state, 'ZREVRANGE')
elseif state == 'running' then
  for _, session in ipairs(sessions) do page_of_claims(session) end
elseif state == 'deferred' then page_of_successors()
elseif state == 'blocked' then page_of_blocked()
else
  of_history = true
  page_of_history()
end

-- The job of a place. An entry with a tombstone may belong to a job that has moved, and the id of an ended job may be
-- in use again.
local function id_at(place) return state == 'ready' and field('alias', place.text) or place.text end
local function is_unsure(place) return of_history or (state == 'ready' and num(field('tombstones', place.text)) > 0) end
local function found_at(place)
  local id = id_at(place)
  local body = call('HGET', key('body'), id)
  if not body then return ended_record(id) end
  if is_unsure(place) then return record_of(id, body, state_of(id)) end
  return record_of(id, body, state, place.at or 0, place.session or '', place.claimed)
end

local unsure = {}
for _, place in ipairs(places) do
  if is_unsure(place) then unsure[#unsure + 1] = id_at(place) end
end
find_holders(unsure)
for _, place in ipairs(places) do
  local found = found_at(place)
  if found[2] == state then
    if not fits(found) then
      reply[1] = place.position
      return reply
    end
    found[13] = place.position
    reply[#reply + 1] = found
  end
end
if skipped > offset + limit then reply[1] = offset + limit end
return reply
