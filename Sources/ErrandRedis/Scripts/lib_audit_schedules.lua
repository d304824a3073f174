-- Schedules: their definitions, ticks and pauses.
-- No script parses a definition. The caller parses it and reports its finding with the digest of the text it has read.
local function printable_name(schedule) return is_name(schedule) and schedule or printable(schedule) end

-- A definition is never deleted: a person may know what it should be.
local function move_definition_aside(schedule, definition)
  if wrong_type('corrupt:definitions', 'hash') then return false end
  call('HSET', key('corrupt:definitions'), schedule .. ' ' .. nowtext, definition)
  if has('timetable') then call('ZREM', key('timetable'), schedule) end
  for _, part in ipairs({ 'pauses', 'ticks', 'schedules' }) do delete_field(part, schedule) end
end

-- Lists the number of bytes on the page, then names.
function steps.schedules()
  local size, names = 0, {}
  each_field('schedules', function(schedule, definition)
    size = size + #definition
    if is_name(schedule) then names[#names + 1] = schedule
    else finding('schedule_unreadable', printable_name(schedule), function() return move_definition_aside(schedule, definition) end) end
  end)
  add(size)
  add(unpack(names))
end

-- A schedule, and the digest of the definition that could not be parsed.
function steps.unreadable()
  local definition = field('schedules', name)
  if not definition or digest_of(definition) ~= position then return end
  finding('schedule_unreadable', name, function() return move_definition_aside(name, definition) end)
end

-- A schedule, the digest of its definition, and its next tick from now on.
function steps.tick()
  local definition, upcoming = field('schedules', name), ARGV[5]
  if not definition or digest_of(definition) ~= position then return end
  local function set() call('ZADD', key('timetable'), upcoming, name) end
  local stored = score('timetable', name)
  if not stored and not has_field('pauses', name) then
    -- While the corrupt pauses are set aside, it is unknown whether this schedule was paused.
    local was_paused = wrong_type('pauses', 'hash') or call('EXISTS', key('corrupt:pauses')) == 1
    if was_paused then finding('pause_unknown', name, function() set_field('pauses', name, nowtext) end)
    else finding('schedule_without_tick', name, set) end
  elseif stored and tonumber(stored) > num(upcoming) + 172800000 then finding('tick_far_ahead', name, set) end
end

function steps.timetable()
  if not has('timetable') then return end
  local page = scan('ZSCAN', key('timetable'))
  for i = 1, #page, 2 do
    local schedule = page[i]
    local function remove() call('ZREM', key('timetable'), schedule) end
    if not has_field('schedules', schedule) then finding('tick_without_schedule', printable_name(schedule), remove)
    elseif has_field('pauses', schedule) then finding('schedule_paused_and_due', printable_name(schedule), remove) end
  end
end
function steps.pauses()
  each_field('pauses', function(schedule)
    if has_field('schedules', schedule) then return end
    finding('pause_without_schedule', printable_name(schedule), function() delete_field('pauses', schedule) end)
  end)
end
function steps.ticks()
  each_field('ticks', function(schedule, record)
    local kind = not has_field('schedules', schedule) and 'ticks_without_schedule'
      or not string.find(record, '^%d*:%d+:%d+$') and 'ticks_unreadable'
    if kind then finding(kind, printable_name(schedule), function() delete_field('ticks', schedule) end) end
  end)
end

-- A generation of the deleted schedules.
function steps.deleted()
  each_field(name, function(schedule, record)
    local kind = not (is_name(schedule) and revision_in(record)) and 'deletion_unreadable'
      or has_field('schedules', schedule) and 'deletion_of_schedule'
    if kind then finding(kind, printable_name(schedule), function() delete_field(name, schedule) end) end
  end)
end
