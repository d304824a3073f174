-- tick: pushes the jobs of one schedule's ticks, each exactly once, although several processes may propose them.
--
-- Arguments  schedule, digest of the definition and next tick as the caller read them (no next tick: a manual run,
--            which leaves the ticks as they are), newest tick pushed ('' for none), the next tick from now on ('' for
--            none), how many ticks are skipped, 1 if a job waits for a running one of its name; then five values a job,
--            as in push
-- Reply      behind (another process was first, or the schedule has changed) · early (a tick is in the future) ·
--            pushed, and one text a job as in push
--
-- Runs without allow-oom, as push does: a refused tick stays due.
local name, digest, expected, newest, upcoming = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local jobs = (#ARGV - 7) / 5
if jobs < 0 or jobs > 1000 or jobs ~= math.floor(jobs) or not is_name(name) then
  return redis.error_reply('ERRAND tick takes a schedule, 6 values of it, and up to 1000 jobs of 5 values each')
end
if not (is_time(expected) and is_time(newest) and is_time(upcoming)) then
  return redis.error_reply('ERRAND the times of a tick must be milliseconds since 1970')
end
local wrong = type_error(SCHEDULE_TYPES)
if wrong then return wrong end
if digest_of(call('HGET', key('schedules'), name)) ~= digest then return { 'behind' } end

local by_hand = expected == ''
if not by_hand then
  local stored = call('ZSCORE', key('timetable'), name)
  if not stored or num(stored) ~= num(expected) then return { 'behind' } end
  if num(expected) > now or num(newest) > now then return { 'early' } end
  if upcoming ~= '' and (num(upcoming) <= num(expected) or num(upcoming) <= num(newest)) then
    return redis.error_reply('ERRAND the next tick must come after those that are pushed')
  end
end
local last, pushed, missed = string.match(call('HGET', key('ticks'), name) or '', '^(%d*):(%d+):(%d+)$')
local refused = refuse_jobs(8)
if refused then return refused end

defers_drops = ARGV[7] == '1'
local reply = { 'pushed' }
push_jobs(8, reply)
if not by_hand then
  if newest ~= '' then last = newest end
  call('HSET', key('ticks'), name, (last or '') .. ':' .. whole(num(pushed) + jobs) .. ':' .. whole(num(missed) + num(ARGV[6])))
  if upcoming == '' then call('ZREM', key('timetable'), name) else call('ZADD', key('timetable'), upcoming, name) end
end
flush()
return reply
