-- schedule: stores a schedule's definition, unless the stored one has changed since the caller read it.
--
-- Arguments  schedule, digest of the definition ('' for none) and revision of the deleted one ('' for none) as the
--            caller read them, 1 if it was paused then, the new definition, its next tick ('' to leave the timetable as
--            it is)
-- Reply      stored · changed (read again) · late (the next tick has passed: read again)
--
-- Runs without allow-oom: a schedule is refused if the server's memory is full.
local name, definition, upcoming = ARGV[1], ARGV[5], ARGV[6]
if not is_name(name) then return redis.error_reply('ERRAND a schedule is named [A-Za-z0-9_.-]{1,128}') end
if #ARGV ~= 6 or not is_time(upcoming) or #definition > 1200000 then
  return redis.error_reply('ERRAND a schedule takes 6 values, its next tick in ms, and a definition of at most 1200000 bytes')
end
local wrong = type_error(SCHEDULE_TYPES)
if wrong then return wrong end
local stored = call('HGET', key('schedules'), name)
if digest_of(stored) ~= ARGV[2] or revision_of_deleted(name) ~= ARGV[3] then return 'changed' end
-- A pause or a resumption since the caller read the schedule stays in effect.
local is_paused = not call('ZSCORE', key('timetable'), name) and call('HEXISTS', key('pauses'), name) == 1
if is_paused ~= (ARGV[4] == '1') then return 'changed' end
if upcoming ~= '' and num(upcoming) <= now then return 'late' end
if not stored and call('HLEN', key('schedules')) >= 10000 then
  return redis.error_reply('ERRANDFULL the queue has 10000 schedules, which is the limit; delete one first')
end
call('HSET', key('schedules'), name, definition)
if upcoming ~= '' then
  call('ZADD', key('timetable'), upcoming, name)
  call('HDEL', key('pauses'), name)
end
forget_deleted(name)
return 'stored'
