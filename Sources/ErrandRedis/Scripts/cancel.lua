-- cancel: cancels waiting jobs and asks running ones to stop. With `delete` it also removes dead and ended jobs.
--
-- Arguments  cancel or delete, then ids
-- Reply      one word a job: cancelled, stopping, deleted, running, ended, dead, not_found. It covers at least the
--            first job, and as many more as have 8 MiB together; then `more` if a promotion has to go on with workflows
local deleting = ARGV[1] == 'delete'
-- The sessions that hold claims of these jobs. There may be many of both, so one command asks a session for all of
-- them.
local holders = {}
for _, session in ipairs(#ARGV > 1 and call('ZRANGE', key('sessions'), 0, -1) or {}) do
  local claims = redis.pcall('HMGET', claims_key(session), unpack(ARGV, 2))
  if claims.err then return session_type_error(session) or claims end
  for i, claim in ipairs(claims) do
    if claim then holders[ARGV[i + 1]] = session end
  end
end

-- A call may contain the same id twice.
local ended_here = {}
local function has_ended(id) return ended_here[id] or field('ended', id) or field('ended:old', id) end

local function forget_ended(id)
  kept = kept - call('HSTRLEN', key('history'), id)
  local kept_history = call('HDEL', key('history'), id) == 1
  if not (kept_history or has_ended(id)) then return 'not_found' end
  return deleting and kept_history and 'deleted' or 'ended'
end

local function end_waiting(id, body)
  local _, _, _, fragment = header(body)
  local line = event('cancelled', id, fragment or NAMELESS, num(field('failures', id)), 'null', 0, 'null')
  count('cancelled')
  endings.end_job(id, deleting and 'x' or 'c', not deleting and line or nil)
  ended_here[id] = true
  return deleting and 'deleted' or 'cancelled'
end

local function remove_due(id)
  for _, name in ipairs({ 'scheduled', 'retrying' }) do
    if has(name) and call('ZREM', key(name), id) == 1 then return true end
  end
end

local function remove_successor(id)
  local name = field('unique:of', id)
  local holder = name and field('unique', name)
  if holder and holder ~= id and successor_of(holder) == id then
    detach_successor(holder)
    return true
  end
end

local function cancel(id)
  local body = call('HGET', key('body'), id)
  if not body then
    if deleting then return forget_ended(id) end
    return (has_ended(id) or field('history', id)) and 'ended' or 'not_found'
  end
  room = room - #body
  if call('ZSCORE', key('dead'), id) then
    if not deleting then return 'dead' end
    call('ZREM', key('dead'), id)
    endings.forget_side_records({ id })
    remember(id, 'x')
    workflows.ended(id, 'x')
    ended_here[id] = true
    call('HDEL', key('body'), id)
    return 'deleted'
  end
  local session = holders[id]
  if session then
    if deleting then return 'running' end
    set_field('stops', id, 'cancel')
    call(PUBLISH, key('wakeups:' .. session), 's')
    return 'stopping'
  end
  if not (workflows.take_blocked(id) or remove_successor(id) or remove_due(id)) then moves.remove_from_ready(id, body) end
  return end_waiting(id, body)
end

local reply = {}
for i = 2, #ARGV do
  if room <= 0 then break end
  reply[#reply + 1] = cancel(ARGV[i])
end
flush()
if workflows.is_busy and workflows.has_more() then reply[#reply + 1] = 'more' end
return reply
