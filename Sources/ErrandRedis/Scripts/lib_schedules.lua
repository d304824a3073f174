-- Schedules: what is stored of one, and whether it is still what a caller read.
local SCHEDULE_TYPES = {
  schedules = 'hash', timetable = 'zset', pauses = 'hash', ticks = 'hash', unscheduled = 'hash', ['unscheduled:old'] = 'hash',
}
local function is_name(name) return #name >= 1 and #name <= 128 and not string.find(name, '[^%w_.-]') end
local function is_time(text) return text == '' or (#text <= 13 and string.find(text, '^%d+$') ~= nil) end
local function digest_of(definition) return definition and definition ~= '' and redis.sha1hex(definition) or '' end

-- Deleted schedules and their revisions, for processes of older code that start later and still declare them. Kept in two
-- generations: a full one becomes the old one, whose predecessor is dropped. What older code still asks for is moved to the
-- new one, so what is forgotten is what nobody has asked for while so many others were deleted.
local MOST_DELETED = 10000
local function is_revision(text) return #text <= 15 and string.find(text, '^%d+$') ~= nil end
-- What is kept of one: the revision it had; after a blank, when a program last declared it nevertheless (ms), and after another
-- one the catalogue that this program read, if it did.
local function revision_in(record)
  local revision = string.match(record, '^(%d+)$') or string.match(record, '^(%d+) %d+ ')
  return revision and is_revision(revision) and revision
end
local function record_of_deleted(name)
  local record = call('HGET', key('unscheduled'), name) or call('HGET', key('unscheduled:old'), name)
  return record and revision_in(record) and record or ''
end
local function revision_of_deleted(name) return revision_in(record_of_deleted(name)) or '' end
local function remember_deleted(name, record)
  call('HSET', key('unscheduled'), name, record)
  call('HDEL', key('unscheduled:old'), name)
  if call('HLEN', key('unscheduled')) >= MOST_DELETED then call('RENAME', key('unscheduled'), key('unscheduled:old')) end
end
local function forget_deleted(name)
  call('HDEL', key('unscheduled'), name)
  call('HDEL', key('unscheduled:old'), name)
end
