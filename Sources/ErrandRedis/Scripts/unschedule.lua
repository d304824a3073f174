-- unschedule: deletes, pauses or resumes a schedule, unless its definition has changed since the caller read it; or
-- records that a program declares a deleted one, or that none does any longer.
--
-- Arguments  delete, pause, resume, remind or withdraw; schedule; digest of its definition as the caller read it;
--            then for delete the revision that older code must not restore, for resume the next tick, for remind the
--            path of the program's catalogue ('' for none)
-- Reply      done · changed (read again) · late (the next tick has passed: read again)
local what, name, extra = ARGV[1], ARGV[2], ARGV[4] or ''
local wrong = type_error(SCHEDULE_TYPES)
if wrong then return wrong end
if digest_of(call('HGET', key('schedules'), name)) ~= ARGV[3] then return 'changed' end
if what == 'remind' then
  if #extra > 4096 then return redis.error_reply('ERRAND the path of a catalogue has at most 4096 bytes') end
elseif extra ~= '' and not is_revision(extra) then
  return redis.error_reply('ERRAND a revision or a time is a number')
end
if what == 'delete' then
  remember_deleted(name, extra)
  call('ZREM', key('timetable'), name)
  call('HDEL', key('pauses'), name)
  call('HDEL', key('ticks'), name)
  call('HDEL', key('schedules'), name)
elseif what == 'pause' then
  call('HSET', key('pauses'), name, nowtext)
  call('ZREM', key('timetable'), name)
elseif what == 'resume' then
  if num(extra) <= now then return 'late' end
  call('ZADD', key('timetable'), 'NX', extra, name)
  call('HDEL', key('pauses'), name)
elseif what == 'remind' then
  local revision = revision_of_deleted(name)
  if revision ~= '' then remember_deleted(name, revision .. ' ' .. nowtext .. ' ' .. extra) end
elseif what == 'withdraw' then
  local revision = revision_of_deleted(name)
  if revision ~= '' then remember_deleted(name, revision) end
else
  return redis.error_reply('ERRAND a schedule can be deleted, paused or resumed, and a deleted one declared or withdrawn')
end
return 'done'
