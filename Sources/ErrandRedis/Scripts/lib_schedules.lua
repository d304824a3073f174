-- Schedules: their stored values, and whether these are still the ones that a caller has read.
local SCHEDULE_TYPES = {
  schedules = 'hash', timetable = 'zset', pauses = 'hash', ticks = 'hash', unscheduled = 'hash', ['unscheduled:old'] = 'hash',
}
local function is_name(name) return #name >= 1 and #name <= 128 and not string.find(name, '[^%w_.-]') end
local function is_time(text) return text == '' or (#text <= 13 and string.find(text, '^%d+$') ~= nil) end
local function digest_of(definition) return definition and definition ~= '' and redis.sha1hex(definition) or '' end

-- Deleted schedules and their revisions, for processes with older code that start later and still declare them. There
-- are two generations: a full one becomes the old one and replaces it. A record that older code still requests moves to
-- the new one, so a schedule is forgotten after 10,000 other deletions without a request.
local MOST_DELETED = 10000
local function is_revision(text) return #text <= 15 and string.find(text, '^%d+$') ~= nil end
-- The record of a deleted schedule: its revision; after a blank, the time (ms) at which a program last declared it
-- nevertheless; and after another blank, the catalogue that this program read, if any.
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
