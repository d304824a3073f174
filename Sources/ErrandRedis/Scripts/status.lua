-- status: returns a queue's counts, totals and the first of its sessions, or more sessions. Reads only.
--
-- Arguments  '0', or the position of more sessions from the last reply
-- Reply      counts (name, number, …), unroutable jobs (operation, number, …), totals (name, number, …), sessions
--            (each: id, host, pid, claims, concurrency, ms since its last heartbeat, begun claims, start of the worker (ms;
--            0 if unknown), version, operations …, each with a colon and its default retries), position
--            of more sessions ('0': none). On later pages counts, unroutable jobs and totals are empty. While sessions
--            register and leave, a session may appear twice
local SESSIONS = 500

-- A single call would take too long for thousands of sessions.
local function some_sessions(from)
  if from == '0' and call('ZCARD', key('sessions')) <= SESSIONS then return call('ZRANGE', key('sessions'), 0, -1), '0' end
  local found, ids = call('ZSCAN', key('sessions'), from, 'COUNT', SESSIONS), {}
  for i = 1, #found[2], 2 do ids[#ids + 1] = found[2][i] end
  return ids, found[1]
end

-- The claims that the session has begun to run: those up to the begun token, whose others wait for a free slot.
local function executing(id, begun, concurrency)
  local count = 0
  for _, claim in ipairs(call('HVALS', claims_key(id))) do
    if num(string.match(claim, '^%d+')) <= begun then count = count + 1 end
  end
  return math.min(count, concurrency)
end

local sessions = {}
local ids, rest = some_sessions(string.match(ARGV[1], '^%d+$') or '0')
for _, id in ipairs(ids) do
  local flat = call('HGETALL', session_key(id))
  local fields, operations, retries = {}, {}, {}
  for i = 1, #flat, 2 do
    local operation = string.match(flat[i], '^op:(.+)$')
    if operation then
      operations[#operations + 1] = operation
      retries[operation] = string.match(flat[i + 1], ':%d+$')
    else fields[flat[i]] = flat[i + 1] end
  end
  table.sort(operations)
  for i = 1, math.min(#operations, 500) do operations[i] = operations[i] .. (retries[operations[i]] or '') end
  local claims = call('HLEN', claims_key(id))
  sessions[#sessions + 1] = {
    id, fields.host or '', num(fields.pid), claims, num(fields.concurrency), now - num(fields.beat),
    claims == 0 and 0 or executing(id, num(fields.begun), num(fields.concurrency)),
    num(fields.started), fields.version or '', unpack(operations, 1, 500)
  }
end
if ARGV[1] ~= '0' then return { {}, {}, {}, sessions, rest } end

local counts, unroutable = counts_of_states()
counts[#counts + 1] = 'paused'
counts[#counts + 1] = num(field('settings', 'paused'))
return { counts, unroutable, call('HGETALL', key('counters')), sessions, rest }
