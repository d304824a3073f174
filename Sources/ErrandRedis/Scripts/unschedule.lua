-- unschedule: deletes, pauses or resumes a schedule, if its definition is still what the caller read.
--
-- ARGV     delete, pause or resume; schedule; digest of its definition as the caller read it;
--          then for delete the revision that no older code may bring back, for resume the next tick
-- Answer   done · changed (read again) · late (the next tick has passed: read again)
local what, name, extra = ARGV[1], ARGV[2], ARGV[4] or ''
if digest_of(call('HGET', Q .. ':schedules', name)) ~= ARGV[3] then return 'changed' end
if #extra > 15 or not string.find(extra, '^%d*$') then return redis.error_reply('ERRAND a revision or a time is a number') end
call('ZCARD', Q .. ':timetable')
if what == 'delete' then
  call('HSET', Q .. ':unscheduled', name, extra)
  call('ZREM', Q .. ':timetable', name)
  call('HDEL', Q .. ':ticks', name)
  call('HDEL', Q .. ':schedules', name)
elseif what == 'pause' then
  call('ZREM', Q .. ':timetable', name)
elseif what == 'resume' then
  if num(extra) <= now then return 'late' end
  call('ZADD', Q .. ':timetable', 'NX', extra, name)
else
  return redis.error_reply('ERRAND a schedule can be deleted, paused or resumed')
end
return 'done'
