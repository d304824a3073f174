-- audit: one bounded step of an audit. It looks at a page of one key and compares each member with its counterparts, all in one
-- script, so what it reports is so; and mends it when asked. What no single page can tell is settled by `confirm`.
--
-- ARGV     1 to mend, the step, then what the step takes: a name, a cursor or position, how many at the most; or ids
-- Answer   next cursor or position ('end': none), findings (kind, subject, 1 if mended, …), and a list that depends on the step
local mending, step, name, position, most = ARGV[1] == '1', ARGV[2], ARGV[3] or '', ARGV[4] or '0', num(ARGV[5])
local found, list, next_position = {}, {}, 'end'
local function finding(kind, subject, mend)
  found[#found + 1] = kind
  found[#found + 1] = subject
  found[#found + 1] = mending and mend and mend() ~= false and 1 or 0
end
local function add(...)
  for _, value in ipairs({ ... }) do list[#list + 1] = value end
end

-- A key of a wrong type counts as missing; the first step says so and puts it aside.
for _, types in ipairs({ TYPES, SELDOM, AT_TIMES, SCHEDULE_TYPES }) do
  for key, expected in pairs(types) do
    if call('EXISTS', Q .. ':' .. key) == 0 or wrong_type(key, expected) then known[key] = false end
  end
end
local function there(key, id) return has(key) and call('HEXISTS', Q .. ':' .. key, id) == 1 end
local function score(key, id) return has(key) and call('ZSCORE', Q .. ':' .. key, id) end
local function lives(id) return there('body', id) and not score('dead', id) end
local function has_ended(id) return field('ended', id) or field('ended:old', id) end
local function length(key) return has(key) and call('LLEN', Q .. ':' .. key) or 0 end
local function parked() return has('parked') and call('HKEYS', Q .. ':parked') or {} end
local function sessions() return has('sessions') and call('ZRANGE', Q .. ':sessions', 0, -1) or {} end
local function claims_of(session) return not wrong_type('claims:' .. session, 'hash') and Q .. ':claims:' .. session end
local function parked_length(operation)
  return not wrong_type('parked:' .. operation, 'list') and call('LLEN', Q .. ':parked:' .. operation) or 0
end
-- The lines but for those of parked jobs, of which there may be thousands.
local function plain_lines()
  local names = { 'suspects' }
  for level = 0, 9 do names[#names + 1] = 'ready:' .. level end
  return names
end
local function all_lines()
  local names = plain_lines()
  for _, operation in ipairs(parked()) do
    if parked_length(operation) > 0 then names[#names + 1] = 'parked:' .. operation end
  end
  return names
end

-- Pages ---------------------------------------------------------------------------------------------------------------
local function scan(command, key)
  local page = call(command, key, position, 'COUNT', most)
  next_position = page[1] == '0' and 'end' or page[1]
  return page[2]
end
local function each_field(key, look)
  if not has(key) then return end
  local page = scan('HSCAN', Q .. ':' .. key)
  for i = 1, #page, 2 do look(page[i], page[i + 1]) end
end

local steps = {}

-- The order of the history, from the times of its records; what has none is no record.
local function relist_history()
  local records, bytes = {}, 0
  for _, id in ipairs(call('HKEYS', Q .. ':history')) do
    local record = call('HGET', Q .. ':history', id)
    local at = string.match(string.match(record, '^[^\t\n]*'), '"at_ms":(%d+),')
    if at then
      records[#records + 1] = { at = at, entry = at .. ':' .. id }
      bytes = bytes + #record
    else
      call('HDEL', Q .. ':history', id)
    end
  end
  table.sort(records, function(one, other) return num(one.at) < num(other.at) end)
  for i, record in ipairs(records) do records[i] = record.entry end
  each_portion(records, 1000, 'RPUSH', Q .. ':history:order')
  call('HSET', Q .. ':seq', 'history_bytes', whole(bytes))
end

-- Types, and what is small enough to be looked at as a whole. Lists how many bodies there are, then lines and their lengths,
-- then, after an empty text, sessions.
local function put_aside(key)
  local aside = Q .. ':spoiled:' .. key
  -- What an earlier repair has put aside stays for a person to look at.
  if call('EXISTS', aside) == 1 then aside = aside .. ':' .. nowtext end
  call('RENAME', Q .. ':' .. key, aside)
  -- Whether it was paused is lost: to go on is for a person to say.
  if key == 'settings' then put('settings', 'paused', '1') end
end
local function spoiled(key, expected)
  if wrong_type(key, expected) then finding('wrong_type', key, function() put_aside(key) end) end
end

function steps.keys()
  for _, types in ipairs({ TYPES, SELDOM, AT_TIMES, SCHEDULE_TYPES }) do
    for key, expected in pairs(types) do spoiled(key, expected) end
  end
  for _, session in ipairs(sessions()) do
    spoiled('session:' .. session, 'hash')
    spoiled('claims:' .. session, 'hash')
    local ends = num(score('sessions', session))
    if ends > now + 172800000 or tonumber(score('sessions', session)) > 9e15 then
      finding('lease_endless', session, function() call('ZADD', Q .. ':sessions', nowtext, session) end)
    end
    if call('EXISTS', Q .. ':session:' .. session) == 0 then
      finding('session_unknown', session, function()
        call('ZADD', Q .. ':sessions', nowtext, session)
        call('HSET', Q .. ':session:' .. session, 'host', '', 'beat', '0')
      end)
    end
  end
  if num(field('seq', 'grace')) > now + 172800000 then
    finding('grace_endless', 'seq', function() call('HDEL', Q .. ':seq', 'grace') end)
  end
  if has('history') and length('history:order') == 0 then
    finding('history_without_order', 'history', function()
      if call('HLEN', Q .. ':history') > 20000 then return call('DEL', Q .. ':history') end
      relist_history()
    end)
  end
  add(has('body') and call('HLEN', Q .. ':body') or 0)
  for _, line in ipairs(plain_lines()) do
    local waiting = call('EXISTS', Q .. ':' .. line) == 1 and not wrong_type(line, 'list') and call('LLEN', Q .. ':' .. line) or 0
    if waiting > 0 then add(line, waiting) end
  end
  add('')
  for _, session in ipairs(sessions()) do add(session) end
end

-- Operations with parked jobs; lists those that have a line, and its length.
function steps.operations()
  each_field('parked', function(operation, counted)
    spoiled('parked:' .. operation, 'list')
    local waiting = parked_length(operation)
    if waiting == 0 then finding('parked_without_line', operation, function() drop('parked', operation) end)
    elseif num(counted) ~= waiting then
      finding('parked_miscounted', operation, function() put('parked', operation, waiting) end)
    end
    if waiting > 0 then add('parked:' .. operation, waiting) end
  end)
end

-- A line of parked jobs, or claims, that a look at all keys showed.
function steps.parked()
  if there('parked', name) or wrong_type('parked:' .. name, 'list') then return end
  local waiting = call('LLEN', Q .. ':parked:' .. name)
  if waiting > 0 then finding('parked_unlisted', name, function() put('parked', name, waiting) end) end
end
function steps.stranded()
  if call('EXISTS', Q .. ':claims:' .. name) == 0 or score('sessions', name) then return end
  -- With its lease in the past, recovery finds the session like any other dead one.
  finding('claims_without_session', name, function()
    call('ZADD', Q .. ':sessions', '1', name)
    known.sessions = true
  end)
end

local function no_body(id, leave)
  if has_ended(id) then return end
  finding('place_without_body', id, function()
    leave()
    bury(id)
  end)
end

function steps.claims()
  local key = claims_of(name)
  if not key then return end
  local last = num(field('seq', 'token'))
  local page = scan('HSCAN', key)
  for i = 1, #page, 2 do
    local id, claim = page[i], page[i + 1]
    local token = num(string.match(claim, '^(%d+):%d+:?%d*$'))
    if token == 0 then finding('claim_unreadable', id, function() call('HSET', key, id, '1:1') end) end
    if token > last then
      finding('token_forgotten', id, function() call('HSET', Q .. ':seq', 'token', whole(token)) end)
      last = token
    end
    if not there('body', id) then no_body(id, function() call('HDEL', key, id) end)
    else
      add(id)
      if field('named', id) and field('running', id) ~= name then
        finding('claim_not_running', id, function() put('running', id, name) end)
      end
    end
  end
end

function steps.due()
  if not has(name) then return end
  local page = scan('ZSCAN', Q .. ':' .. name)
  for i = 1, #page, 2 do
    local id = page[i]
    if there('body', id) then add(id) else no_body(id, function() call('ZREM', Q .. ':' .. name, id) end) end
  end
end

-- From the end to the head, for a line loses entries at its head all the time; lists ids, then, after an empty text, entries with
-- tombstones.
function steps.line()
  local key, from, removed, tombs = Q .. ':' .. name, num(position), 0, {}
  if call('EXISTS', key) == 0 or wrong_type(name, 'list') then return end
  local entries = call('LRANGE', key, -(from + most), -(from + 1))
  for i = #entries, 1, -1 do
    local entry = entries[i]
    if num(field('gone', entry)) > 0 then tombs[#tombs + 1] = entry
    else
      local id = field('stand', entry) or entry
      if there('body', id) then add(id)
      else
        no_body(id, function()
          call('LREM', key, -1, entry)
          drop('stand', entry)
          drop('place', id)
          removed = removed + 1
        end)
      end
    end
  end
  local operation = removed > 0 and string.match(name, '^parked:(.+)$')
  if operation and call('LLEN', key) > 0 then put('parked', operation, call('LLEN', key))
  elseif operation then drop('parked', operation) end
  if #entries == most then next_position = whole(from + most - removed) end
  add('')
  add(unpack(tombs))
end

-- Lists how many bytes the page has, ids, and after an empty text those that lack the name they were pushed with.
function steps.bodies()
  local size, nameless = 0, {}
  local ids = {}
  each_field('body', function(id, body)
    size = size + #body
    ids[#ids + 1] = id
    if string.find(body, '^%d%d%d%d%d%d%d%d%d%d%d%d%d1[dr]') and not there('named', id) and not score('dead', id) then
      nameless[#nameless + 1] = id
    end
  end)
  add(size)
  add(unpack(ids))
  add('')
  add(unpack(nameless))
end

-- Places --------------------------------------------------------------------------------------------------------------
-- The places of a job but for lines, which cannot be asked.
local holding
local function places_of(id)
  holding = holding or sessions()
  local places = {}
  for _, key in ipairs({ 'scheduled', 'retrying', 'dead' }) do
    if score(key, id) then places[#places + 1] = key end
  end
  for _, session in ipairs(holding) do
    local claims = claims_of(session)
    if claims and call('HEXISTS', claims, id) == 1 then places[#places + 1] = 'claims:' .. session end
  end
  local text = field('named', id)
  local holder = text and field('names', text)
  if holder and holder ~= id and successor_of(holder) == id then places[#places + 1] = 'next' end
  return places
end

-- How often an entry is in a line. This is the one command that takes longer in a longer line.
local function times(line, entry)
  if call('EXISTS', Q .. ':' .. line) == 0 or wrong_type(line, 'list') then return 0 end
  return #call('LPOS', Q .. ':' .. line, entry, 'COUNT', 0)
end

-- The places of a job, and the lines it is in, once for each time.
local function all_places_of(id, entry)
  local lines, asked = {}, plain_lines()
  local _, _, _, fragment = header(field('body', id))
  local operation = fragment and string.match(fragment, '^"operation":"([%w_.-]+)"')
  -- Where somebody has made thousands of operations up, only the job's own is looked for.
  if has('parked') and call('HLEN', Q .. ':parked') <= 1000 then asked = all_lines()
  elseif operation then asked[#asked + 1] = 'parked:' .. parking(operation, field('body', id)) end
  for _, line in ipairs(asked) do
    for _ = 1, times(line, entry) do lines[#lines + 1] = line end
  end
  -- However many somebody wrote there.
  for _ = 1, math.min(num(field('gone', entry)), #lines) do lines[#lines] = nil end
  return places_of(id), lines
end

-- Names ---------------------------------------------------------------------------------------------------------------
function steps.names()
  each_field('names', function(text, holder)
    local named, policy = field('named', holder), nil
    if lives(holder) and named == text then return end
    if lives(holder) and not named then policy = string.match(field('body', holder), '^%d%d%d%d%d%d%d%d%d%d%d%d%d1([drDR])') end
    if policy then finding('holder_unaware', text, function() put('named', holder, text) end)
    else finding('lock_without_holder', text, function() drop('names', text) end) end
  end)
end

function steps.named()
  each_field('named', function(id, text)
    if not lives(id) then return finding('named_without_job', id, function() drop('named', id) end) end
    local holder = field('names', text)
    if holder == id or (holder and successor_of(holder) == id) then return end
    if mending and holder and lives(holder) then return add(id) end
    finding('name_not_held', id, function() put('names', text, id) end)
  end)
end

-- Whether a waiting job has asked the one before it to stop; one that only waits for the end of a run, as a schedule's may, has not.
local function has_asked(id) return string.find(string.sub(field('body', id), 15, 15), '[rR]') end

-- A job whose name another one holds, and when it is due: it waits for that one's end if it is nowhere. What has a place runs or will run
-- from there; waiting as well it would run twice.
function steps.nowhere()
  local id = name
  local text = field('named', id)
  local holder = text and lives(id) and field('names', text)
  if not holder or holder == id or successor_of(holder) == id then return end
  finding('name_not_held', id, function()
    if not lives(holder) then return put('names', text, id) end
    if successor_of(holder) or not field('running', holder) then return false end
    local places, lines = all_places_of(id, entry_of(id))
    if #places + #lines > 0 then return false end
    put('next', holder, whole(num(position)) .. ':' .. id)
    if has_asked(id) and not field('stops', holder) then put('stops', holder, 'replace') end
  end)
end

function steps.next()
  each_field('next', function(holder, next_up)
    local id = string.match(next_up, '^%d+:(.+)$')
    if not (id and lives(holder) and lives(id)) then
      return finding('succession_without_job', holder, function() drop('next', holder) end)
    end
    add(id)
    local text = field('named', holder)
    if text and not field('names', text) then finding('name_not_held', holder, function() put('names', text, holder) end) end
    if has_asked(id) and not field('stops', holder) then
      finding('succession_without_stop', holder, function() put('stops', holder, 'replace') end)
    end
  end)
end

function steps.running()
  each_field('running', function(id, session)
    local claims = claims_of(session)
    if not lives(id) then finding('running_without_job', id, function() drop('running', id) end)
    elseif not claims or call('HEXISTS', claims, id) == 0 then
      finding('running_without_claim', id, function() drop('running', id) end)
    end
  end)
end

-- The name that a body was pushed with, read by the caller, for a job that has none.
function steps.nameless()
  local id, text = name, position
  if not lives(id) or field('named', id) then return end
  finding('job_without_name', id, function()
    local holder = field('names', text)
    if text == '' or (holder and holder ~= id and lives(holder) and successor_of(holder) ~= id) then return false end
    if not (holder and lives(holder)) then put('names', text, id) end
    put('named', id, text)
  end)
end

-- What is kept beside bodies ------------------------------------------------------------------------------------------
function steps.beside()
  each_field(name, function(id)
    if not there('body', id) or (name == 'stops' and score('dead', id)) then
      finding(name .. '_without_job', id, function() drop(name, id) end)
    end
  end)
end
function steps.stand()
  each_field('stand', function(entry, id)
    if field('place', id) == entry and lives(id) then return end
    finding('stand_without_place', entry, function()
      -- As the next step sees it: what is dead stands nowhere.
      if lives(id) and not field('place', id) then put('place', id, entry) else drop('stand', entry) end
    end)
  end)
end
function steps.place()
  each_field('place', function(id, entry)
    if not lives(id) then finding('place_without_job', id, function() drop('place', id) end)
    elseif field('stand', entry) ~= id then
      finding('place_without_stand', id, function()
        if field('stand', entry) then drop('place', id) else put('stand', entry, id) end
      end)
    end
  end)
end
function steps.idle()
  if not has('idle') then return end
  for _, session in ipairs(scan('SSCAN', Q .. ':idle')) do
    if not score('sessions', session) then
      finding('idle_without_session', session, function() call('SREM', Q .. ':idle', session) end)
    end
  end
end
function steps.gone()
  each_field('gone', function(entry, n)
    -- What no line of ours holds; its bytes may be anything.
    if num(n) <= 0 or string.find(entry, '[^%w_:-]') then
      finding('tombstone_without_entry', printable(entry), function() drop('gone', entry) end)
    else
      add(entry, whole(num(n)))
    end
  end)
end

-- Schedules -----------------------------------------------------------------------------------------------------------
-- No script reads a definition: its reader says what it thinks of one, by the digest of what it has read.
local function shown(schedule) return is_name(schedule) and schedule or printable(schedule) end

-- A definition is never thrown away: a person may know what it was to be.
local function set_aside(schedule, definition)
  if wrong_type('spoiled:definitions', 'hash') then return false end
  call('HSET', Q .. ':spoiled:definitions', schedule .. ' ' .. nowtext, definition)
  if has('timetable') then call('ZREM', Q .. ':timetable', schedule) end
  for _, key in ipairs({ 'pauses', 'ticks', 'schedules' }) do drop(key, schedule) end
end

-- Lists how many bytes the page has, then names.
function steps.schedules()
  local size, names = 0, {}
  each_field('schedules', function(schedule, definition)
    size = size + #definition
    if is_name(schedule) then names[#names + 1] = schedule
    else finding('schedule_unreadable', shown(schedule), function() return set_aside(schedule, definition) end) end
  end)
  add(size)
  add(unpack(names))
end

-- A schedule, and the digest of the definition that could not be read.
function steps.unreadable()
  local definition = field('schedules', name)
  if not definition or digest_of(definition) ~= position then return end
  finding('schedule_unreadable', name, function() return set_aside(name, definition) end)
end

-- A schedule, the digest of its definition and the next tick that this has from now on.
function steps.tick()
  local definition, upcoming = field('schedules', name), ARGV[5]
  if not definition or digest_of(definition) ~= position then return end
  local function set() call('ZADD', Q .. ':timetable', upcoming, name) end
  local stored = score('timetable', name)
  if not stored and not there('pauses', name) then
    -- As long as what held the pauses lies aside, nobody knows whether this is one that was paused.
    local was_paused = wrong_type('pauses', 'hash') or call('EXISTS', Q .. ':spoiled:pauses') == 1
    if was_paused then finding('pause_unknown', name, function() put('pauses', name, nowtext) end)
    else finding('schedule_without_tick', name, set) end
  elseif stored and tonumber(stored) > num(upcoming) + 172800000 then finding('tick_far_ahead', name, set) end
end

function steps.timetable()
  if not has('timetable') then return end
  local page = scan('ZSCAN', Q .. ':timetable')
  for i = 1, #page, 2 do
    local schedule = page[i]
    local function leave() call('ZREM', Q .. ':timetable', schedule) end
    if not there('schedules', schedule) then finding('tick_without_schedule', shown(schedule), leave)
    elseif there('pauses', schedule) then finding('schedule_paused_and_due', shown(schedule), leave) end
  end
end
function steps.pauses()
  each_field('pauses', function(schedule)
    if there('schedules', schedule) then return end
    finding('pause_without_schedule', shown(schedule), function() drop('pauses', schedule) end)
  end)
end
function steps.ticks()
  each_field('ticks', function(schedule, record)
    local kind = not there('schedules', schedule) and 'ticks_without_schedule'
      or not string.find(record, '^%d*:%d+:%d+$') and 'ticks_unreadable'
    if kind then finding(kind, shown(schedule), function() drop('ticks', schedule) end) end
  end)
end

-- A generation of deleted schedules.
function steps.deleted()
  each_field(name, function(schedule, record)
    local kind = not (is_name(schedule) and revision_in(record)) and 'deletion_unreadable'
      or there('schedules', schedule) and 'deletion_of_schedule'
    if kind then finding(kind, shown(schedule), function() drop(name, schedule) end) end
  end)
end

-- Suspicions ----------------------------------------------------------------------------------------------------------
-- Lists for each id: the id, how many places but lines it has (-1: it is gone), and the line it should else be in.
function steps.examine()
  for i = 3, #ARGV do
    local id = ARGV[i]
    local body = field('body', id)
    local line = 'ready:' .. (body and header(body) or '5')
    if num(field('crashes', id)) >= SUSPECT_FROM then line = 'suspects' end
    add(id, body and #places_of(id) or -1, line)
  end
end

-- Lines are left first, then the due sets, then the dead: a claim and a succession stay.
local function leave(places, lines, entry)
  local left = #places + #lines
  for _, line in ipairs(lines) do
    if left > 1 and call('LREM', Q .. ':' .. line, 1, entry) == 1 then left = left - 1 end
  end
  for _, key in ipairs({ 'scheduled', 'retrying', 'dead' }) do
    for _, place in ipairs(places) do
      if left > 1 and place == key then left = left - call('ZREM', Q .. ':' .. key, ARGV[3]) end
    end
  end
  return left == 1
end

-- A job that was dead when its place was lost; one that was revived has its newest error from its death as well, but begins anew.
local function was_dead(id)
  local last = field('errors', id)
  local ran = num(field('failures', id)) + num(field('crashes', id)) > 0
  return ran and last and string.find(last, '^{"event":"dead"')
end

local function put_back(id, body, due)
  drop('stand', entry_of(id))
  drop('place', id)
  if not was_dead(id) then return line_up(id, body, due) end
  leave_name(id)
  call('ZADD', Q .. ':dead', nowtext, id)
end

-- An id and when it is due: whether it is in one place, all of them looked at in this one script.
function steps.confirm()
  local id = name
  local body = field('body', id)
  if not body then return end
  local entry = entry_of(id)
  local places, lines = all_places_of(id, entry)
  if #places + #lines == 0 then finding('body_without_place', id, function() put_back(id, body, num(position)) end)
  elseif #places + #lines > 1 then finding('several_places', id, function() leave(places, lines, entry) end) end
end

-- An entry: whether it is in line as often as it has tombstones.
function steps.tomb()
  local tombs, entries = num(field('gone', name)), 0
  for _, line in ipairs(all_lines()) do entries = entries + times(line, name) end
  if not field('gone', name) or (tombs > 0 and tombs <= entries) then return end
  finding('tombstone_without_entry', name, function()
    if entries > 0 then put('gone', name, entries) else drop('gone', name) end
  end)
end

if not steps[step] then return redis.error_reply('ERRAND an audit has no step ' .. step) end
steps[step]()
if mending then settle() end
return { next_position, found, list }
