-- The common part of all audit steps: arguments, findings, and pages of keys.
local repairing, step, name, position, most = ARGV[1] == '1', ARGV[2], ARGV[3] or '', ARGV[4] or '0', num(ARGV[5])
local found, list, next_position = {}, {}, 'end'
local function finding(kind, subject, repair)
  found[#found + 1] = kind
  found[#found + 1] = subject
  found[#found + 1] = repairing and repair and repair() ~= false and 1 or 0
end
local function add(...)
  for _, value in ipairs({ ... }) do list[#list + 1] = value end
end

-- A key of a wrong type counts as missing. The first step reports it and moves it aside.
for _, types in ipairs({ TYPES, SELDOM, COMBINED, AT_TIMES, SCHEDULE_TYPES }) do
  for part, expected in pairs(types) do
    if call('EXISTS', key(part)) == 0 or wrong_type(part, expected) then known[part] = false end
  end
end
local function has_field(part, id) return has(part) and call('HEXISTS', key(part), id) == 1 end
local function score(part, id) return has(part) and call('ZSCORE', key(part), id) end
local function is_alive(id) return has_field('body', id) and not score('dead', id) end
local function has_ended(id) return field('ended', id) or field('ended:old', id) end
local function length(part) return has(part) and call('LLEN', key(part)) or 0 end
local function unroutable() return has('unroutable') and call('HKEYS', key('unroutable')) or {} end
local function sessions() return has('sessions') and call('ZRANGE', key('sessions'), 0, -1) or {} end
local function claims_of(session) return not wrong_type('claims:' .. session, 'hash') and claims_key(session) end
local function unroutable_length(operation)
  return not wrong_type('unroutable:' .. operation, 'list') and call('LLEN', key('unroutable:' .. operation)) or 0
end
-- The ready lists except those of unroutable jobs, of which there may be thousands.
local function ready_lists()
  local names = { 'quarantined' }
  for level = 0, 9 do names[#names + 1] = 'ready:' .. level end
  return names
end
local function all_lists()
  local names = ready_lists()
  for _, operation in ipairs(unroutable()) do
    if unroutable_length(operation) > 0 then names[#names + 1] = 'unroutable:' .. operation end
  end
  return names
end

-- Pages ---------------------------------------------------------------------------------------------------------------
local function scan(command, full_key)
  local page = call(command, full_key, position, 'COUNT', most)
  next_position = page[1] == '0' and 'end' or page[1]
  return page[2]
end
local function each_field(part, look)
  if not has(part) then return end
  local page = scan('HSCAN', key(part))
  for i = 1, #page, 2 do look(page[i], page[i + 1]) end
end

local steps = {}

-- Rebuilds the order of the history from the times of its records, and removes records without a time.
local function relist_history()
  local records, bytes = {}, 0
  for _, id in ipairs(call('HKEYS', key('history'))) do
    local record = call('HGET', key('history'), id)
    local at = string.match(string.match(record, '^[^\t\n]*'), '"at_ms":(%d+),')
    if at then
      records[#records + 1] = { at = at, entry = at .. ':' .. id }
      bytes = bytes + #record
    else
      call('HDEL', key('history'), id)
    end
  end
  table.sort(records, function(one, other) return num(one.at) < num(other.at) end)
  for i, record in ipairs(records) do records[i] = record.entry end
  each_portion(records, 1000, 'RPUSH', key('history:order'))
  call('HSET', key('runtime'), 'history_bytes', whole(bytes))
end

-- Types, and keys that are small enough for a single step. Lists the number of bodies, then ready lists and their
-- lengths, then, after an empty text, sessions.
local function move_aside(part)
  local aside = key('corrupt:' .. part)
  -- The key that an earlier repair has moved aside stays for a person to inspect.
  if call('EXISTS', aside) == 1 then aside = aside .. ':' .. nowtext end
  call('RENAME', key(part), aside)
  -- The settings are lost, and the queue may have been paused. A person decides when it resumes.
  if part == 'settings' then set_field('settings', 'paused', '1') end
end
local function move_aside_if_corrupt(part, expected)
  if wrong_type(part, expected) then finding('wrong_type', part, function() move_aside(part) end) end
end
