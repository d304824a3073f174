-- promote: appends due jobs to their ready lists, lets groups run again whose rest is over, and goes on with workflows.
--
-- Arguments  the largest number of jobs of each kind; large jobs reduce it
-- Reply      how many of both, the ms until the next job is due, a group may run or a schedule ticks (0: more are due
--            now; -1: none is to come), 1 if a schedule is due now, and how many messages wait for other queues
local limit = math.min(num(ARGV[1]), 500)
local promoted, next_due = 0, -1
local function await(time)
  local at = tonumber(time or '')
  if not at or at >= 9e15 then return end
  local wait = math.max(math.floor(at) - now, 0)
  if next_due < 0 or wait < next_due then next_due = wait end
end
for _, name in ipairs({ 'scheduled', 'retrying' }) do
  local due_key = key(name)
  local due = has(name) and call('ZRANGEBYSCORE', due_key, '-inf', nowtext, 'LIMIT', 0, limit) or {}
  if #due > 0 then
    local moved = {}
    for _, id in ipairs(due) do
      if room <= 0 then break end
      local body = call('HGET', key('body'), id)
      if body then moves.enqueue(id, body, 0) else endings.handle_stray(id) end
      room = room - #(body or '')
      moved[#moved + 1] = id
    end
    if #moved > 0 then call('ZREM', due_key, unpack(moved)) end
    promoted = promoted + #moved
  end
end
if special and has('resting') then promoted = promoted + groups.return_rested(limit) end
-- Decides about jobs of workflows whose names other jobs held when they came free.
local function admit(most)
  local admitted = has('blocked:released') and try('LPOP', key('blocked:released'), most) or {}
  for _, id in ipairs(admitted) do
    local body = call('HGET', key('body'), id)
    local due, policy, name = workflows.take_blocked(id)
    if due and body and not workflows.cancel_stopped(id) then
      call('HDEL', key('body'), id)
      local envelope = string.sub(workflows.with_expiry(body), 14)
      local receipt = push_one(id, due, policy, name, envelope)
      write_gathered()
      local holder = string.match(receipt, '^d:([^:]+)')
      if holder then
        count('dropped')
        workflows.dropped(id, holder)
      end
    end
  end
  return #admitted
end
if special and (workflows.noted[1] or has('workflow:work') or has('blocked:released')) then
  promoted = promoted + admit(100)
  workflows.continue(true)
  if call('EXISTS', key('workflow:work'), key('blocked:released')) > 0 then promoted, next_due = promoted + 1, 0 end
end
if call('EXISTS', key('workflows:unsealed'), key('workflows:ended')) > 0 and workflows.trim() then next_due = 0 end
for _, name in ipairs({ 'scheduled', 'retrying' }) do await(call('ZRANGE', key(name), 0, 0, 'WITHSCORES')[2]) end
if special and has('resting') then await((try('ZRANGE', key('resting'), 0, 0, 'WITHSCORES') or {})[2]) end
-- A rule was changed while very many groups were held back.
local rest = special and has('held_back') and call('HGET', key('runtime'), 'reconsider')
if rest and groups.reconsider(whole(num(rest))) then next_due = 0 end
local ticking = 0
-- A corrupt timetable does not leave jobs half promoted: the script that lists due schedules reports it.
if has('timetable') and not wrong_type('timetable', 'zset') then
  local first = call('ZRANGE', key('timetable'), 0, 0, 'WITHSCORES')[2]
  if first and num(first) <= now then
    ticking = 1
    -- A schedule that cannot tick now is no reason to call again at once.
    first = call('ZRANGEBYSCORE', key('timetable'), '(' .. nowtext, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
  end
  await(first)
end
flush()
return { promoted, next_due, ticking, special and call('LLEN', key('workflow:hops')) or 0 }
