-- status: returns a queue's counts, totals and the first of its sessions, or more sessions. Reads only.
--
-- Arguments  '0', or the position of more sessions from the last reply
-- Reply      counts (name, number, …), unroutable jobs (operation, number, …), totals (name, number, …), sessions
--            (each: id, host, pid, claims, concurrency, ms since its last heartbeat, begun claims, operations …), position
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
  local fields, operations = {}, {}
  for i = 1, #flat, 2 do
    local operation = string.match(flat[i], '^op:(.+)$')
    if operation then operations[#operations + 1] = operation else fields[flat[i]] = flat[i + 1] end
  end
  table.sort(operations)
  local claims = call('HLEN', claims_key(id))
  sessions[#sessions + 1] = {
    id, fields.host or '', num(fields.pid), claims, num(fields.concurrency), now - num(fields.beat),
    claims == 0 and 0 or executing(id, num(fields.begun), num(fields.concurrency)), unpack(operations, 1, 500)
  }
end
if ARGV[1] ~= '0' then return { {}, {}, {}, sessions, rest } end

local ready = 0

-- How long the first job of a list has been waiting.
local function age_of_head(list_key)
  for _, entry in ipairs(call('LRANGE', list_key, 0, 9)) do
    local body = call('HGET', key('body'), field('alias', entry) or entry)
    local since = body and string.match(body, '^(%d%d%d%d%d%d%d%d%d%d%d%d%d)1')
    if since then
      return now - num(since)
    end
  end
  return 0
end

-- Counts the jobs of a list. Returns the age of the oldest of this and the earlier lists.
local function add_list(list_key, oldest)
  local length = call('LLEN', list_key)
  if length == 0 then return oldest end
  ready = ready + length
  return math.max(oldest, age_of_head(list_key))
end

local oldest, oldest_unroutable = 0, 0
for level = 0, 9 do oldest = add_list(key('ready:' .. level), oldest) end
oldest = add_list(key('quarantined'), oldest)
-- Thousands of invented operations must not make each call expensive: it reads the lists of the first 100, and adds up
-- the stored counts of the others, of at most 5,000 in all.
local unroutable = call('HLEN', key('unroutable')) > 5000 and call('HRANDFIELD', key('unroutable'), 5000, 'WITHVALUES') or call('HGETALL', key('unroutable'))
for i = 1, #unroutable, 2 do
  if i <= 200 then oldest_unroutable = add_list(key('unroutable:' .. unroutable[i]), oldest_unroutable) else ready = ready + math.max(0, math.min(num(unroutable[i + 1]), 1000000000)) end
end
unroutable = { unpack(unroutable, 1, 200) }
-- Nearly every such entry has one tombstone, so the call does not add them up if there are very many entries.
local tombs = call('HLEN', key('tombstones'))
if tombs <= 1000 then
  tombs = 0
  for _, n in ipairs(call('HVALS', key('tombstones'))) do tombs = tombs + num(n) end
end

local counts = {
  'paused', num(field('settings', 'paused')),
  'ready', math.max(ready - tombs, 0),
  'scheduled', call('ZCARD', key('scheduled')),
  'retrying', call('ZCARD', key('retrying')),
  'dead', call('ZCARD', key('dead')),
  'deferred', call('HLEN', key('successors')),
  'oldest', oldest,
  'oldest_unroutable', oldest_unroutable,
}
return { counts, unroutable, call('HGETALL', key('counters')), sessions, rest }
