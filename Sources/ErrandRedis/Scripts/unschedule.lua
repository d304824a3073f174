-- unschedule: deletes, pauses or resumes a schedule, if its definition is still what the caller read; or keeps in mind that one was
-- deleted which somebody still asks for.
--
-- ARGV     delete, pause, resume or remind; schedule; digest of its definition as the caller read it;
--          then for delete the revision that no older code may bring back, for resume the next tick
-- Answer   done · changed (read again) · late (the next tick has passed: read again)
local what, name, extra = ARGV[1], ARGV[2], ARGV[4] or ''
local wrong = type_error(SCHEDULE_TYPES)
if wrong then return wrong end
if digest_of(call('HGET', Q .. ':schedules', name)) ~= ARGV[3] then return 'changed' end
if extra ~= '' and not is_revision(extra) then return redis.error_reply('ERRAND a revision or a time is a number') end
if what == 'delete' then
  remember_deleted(name, extra)
  call('ZREM', Q .. ':timetable', name)
  call('HDEL', Q .. ':pauses', name)
  call('HDEL', Q .. ':ticks', name)
  call('HDEL', Q .. ':schedules', name)
elseif what == 'pause' then
  call('HSET', Q .. ':pauses', name, nowtext)
  call('ZREM', Q .. ':timetable', name)
elseif what == 'resume' then
  if num(extra) <= now then return 'late' end
  call('ZADD', Q .. ':timetable', 'NX', extra, name)
  call('HDEL', Q .. ':pauses', name)
elseif what == 'remind' then
  local revision = call('HGET', Q .. ':unscheduled:old', name)
  if revision and is_revision(revision) and call('HEXISTS', Q .. ':unscheduled', name) == 0 then remember_deleted(name, revision) end
else
  return redis.error_reply('ERRAND a schedule can be deleted, paused or resumed, or its deletion kept in mind')
end
return 'done'
