-- inspect: what is known of jobs, by their ids or by the page of a state. Reads only.
--
-- ARGV     ids, then ids · or page, state, offset, how many at the most
-- Answer   next offset, or how many of the ids were looked at (-1: all); then for each job an array: id, state ('' unknown), body, failures, crashes, at (ms; 0 unknown),
--          session, last event, result. As many as fit into 8 MiB, but one at least
local HOW = { f = 'finished', c = 'cancelled', r = 'replaced', x = 'deleted' }
local sessions = call('ZRANGE', Q .. ':sessions', 0, -1)

local function holder_of(id)
  for _, session in ipairs(sessions) do
    if call('HEXISTS', Q .. ':claims:' .. session, id) == 1 then return session end
  end
end

local function ended_record(id)
  local record = field('history', id)
  local letter, line, result = string.match(record or '', '^(%l)([^\n]*)\n(.*)$')
  local how = HOW[field('ended', id) or field('ended:old', id) or letter or '']
  local at = line and string.match(line, '"at_ms":(%d+),"duration_ms"')
  return { id, how or '', '', 0, 0, num(at), '', line or '', result or '' }
end

local function state_of(id)
  for _, name in ipairs({ 'scheduled', 'retrying', 'dead' }) do
    local at = call('ZSCORE', Q .. ':' .. name, id)
    if at then return name, num(at), '' end
  end
  local session = holder_of(id)
  if session then return 'running', 0, session end
  local name = field('named', id)
  local holder = name and field('names', name)
  if holder and holder ~= id and string.match(field('next', holder) or '', '^%d+:(.+)$') == id then return 'deferred', 0, '' end
  return 'ready', 0, ''
end

local function record(id)
  local body = call('HGET', Q .. ':body', id)
  if not body then return ended_record(id) end
  local state, at, session = state_of(id)
  return { id, state, body, num(field('failures', id)), num(field('crashes', id)), at, session, field('errors', id) or '', '' }
end

local answer = { -1 }
local MOST_BYTES = 8388608
local bytes = 0
local function fits(found)
  bytes = bytes + #found[3] + #found[8] + #found[9]
  return #answer == 1 or bytes <= MOST_BYTES
end

if ARGV[1] == 'ids' then
  for i = 2, #ARGV do
    local found = record(ARGV[i])
    if not fits(found) then
      answer[1] = i - 2
      return answer
    end
    answer[#answer + 1] = found
  end
  return answer
end

local state, offset, limit = ARGV[2], num(ARGV[3]), math.min(num(ARGV[4]), 500)
local ids, skipped = {}, 0

-- Goes through parts one after the other as if they were one list; each part answers its length and a slice.
local function page(length, slice)
  if #ids < limit then
    local from = math.max(offset - skipped, 0)
    if from < length then
      for _, id in ipairs(slice(from, math.min(from + limit - #ids, length) - 1)) do ids[#ids + 1] = id end
    end
  end
  skipped = skipped + length
end

local function page_of_list(key)
  page(call('LLEN', key), function(from, to) return call('LRANGE', key, from, to) end)
end
local function page_of_hash(values)
  page(#values, function(from, to)
    local part = {}
    for i = from + 1, to + 1 do part[#part + 1] = values[i] end
    return part
  end)
end

if state == 'ready' then
  page_of_list(Q .. ':suspects')
  for level = 9, 0, -1 do page_of_list(Q .. ':ready:' .. level) end
  for _, operation in ipairs(call('HKEYS', Q .. ':parked')) do page_of_list(Q .. ':parked:' .. operation) end
elseif state == 'scheduled' or state == 'retrying' then
  page(call('ZCARD', Q .. ':' .. state), function(from, to) return call('ZRANGE', Q .. ':' .. state, from, to) end)
elseif state == 'dead' then
  page(call('ZCARD', Q .. ':dead'), function(from, to) return call('ZREVRANGE', Q .. ':dead', from, to) end)
elseif state == 'running' then
  for _, session in ipairs(sessions) do page_of_hash(call('HKEYS', Q .. ':claims:' .. session)) end
elseif state == 'deferred' then
  local values = {}
  for _, next_up in ipairs(call('HVALS', Q .. ':next')) do values[#values + 1] = string.match(next_up, '^%d+:(.+)$') end
  page_of_hash(values)
else
  local order = Q .. ':history:order'
  page(call('LLEN', order), function(from, to)
    local part = {}
    for _, entry in ipairs(call('LRANGE', order, -to - 1, -from - 1)) do table.insert(part, 1, string.match(entry, '^%d+:(.*)$')) end
    return part
  end)
end

for i, id in ipairs(ids) do
  local found = record(state == 'ready' and field('stand', id) or id)
  if found[2] == state then
    if not fits(found) then
      answer[1] = offset + i - 1
      return answer
    end
    answer[#answer + 1] = found
  end
end
if skipped > offset + limit then answer[1] = offset + limit end
return answer
