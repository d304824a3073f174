-- queue: creates the queue, checks whether it exists, or deletes it with all its contents.
--
-- Arguments  create, look, delete, force, places or sweep; for places then a cursor, for sweep the names of keys
-- Reply      create: 1 if it did not exist before, else 0 · look: 1 if it exists, else 0
--            delete, force: deleted, absent, used, or undelivered if it has messages for other queues (delete), then how
--            many jobs, live sessions and schedules it has or had
--            places: the next cursor, and messages that tell workflows of other queues that their jobs are deleted here
--            sweep: how many of the keys were left over, and are removed now
local how = ARGV[1]
if how == 'look' then return queue_exists() and 1 or 0 end
if how == 'create' then
  if queue_exists() then return 0 end
  call('HSET', key('runtime'), 'created', nowtext)
  return 1
end

-- The server frees large keys in the background; if the user may not call UNLINK, it frees them at once.
local function remove(names)
  local removed = 0
  for from = 1, #names, 1000 do
    local keys = {}
    for i = from, math.min(from + 999, #names) do keys[#keys + 1] = key(names[i]) end
    local count = redis.pcall('UNLINK', unpack(keys))
    if type(count) ~= 'number' then count = call('DEL', unpack(keys)) end
    removed = removed + count
  end
  return removed
end

-- Keys of an old session, an operation or a repair that no other key lists any more. Any other key may belong to a
-- queue of the same name that was created meanwhile.
local function is_left_over(name)
  local session = string.match(name, '^session:(.+)$') or string.match(name, '^claims:(.+)$')
  if session then return not call('ZSCORE', key('sessions'), session) end
  local group = string.match(name, '^unroutable:(.+)$')
  if group then return call('HEXISTS', key('unroutable'), group) == 0 end
  if string.find(name, '^group:') or string.find(name, '^groups:') or string.find(name, '^left:') then return not has('backlog') end
  if string.find(name, '^held:') then return call('EXISTS', key('sessions')) == 0 end
  return string.find(name, '^corrupt:') ~= nil
end
if how == 'sweep' then
  local left = {}
  for i = 2, #ARGV do
    local name = string.sub(ARGV[i], #Q + 2)
    if string.sub(ARGV[i], 1, #Q + 1) == Q .. ':' and is_left_over(name) then left[#left + 1] = name end
  end
  return remove(left)
end

if how ~= 'delete' and how ~= 'force' and how ~= 'places' then
  return redis.error_reply('ERRAND the action must be create, look, delete, force, places or sweep')
end
if not queue_exists() then return how == 'places' and { '0', {} } or { 'absent', 0, 0, 0 } end
if how == 'delete' then
  for _, types in ipairs(ALL_TYPES) do
    local wrong = type_error(types)
    if wrong then return wrong end
  end
end
-- With `force` the queue is deleted even if a key has another type.
local function ask(command, name, ...)
  local reply = redis.pcall(command, key(name), ...)
  return type(reply) == 'table' and reply.err and {} or reply
end
local function length(name)
  local count = ask('HLEN', name)
  return type(count) == 'number' and count or 0
end
if how == 'places' then
  local number, messages = whole(math.max(num(ask('HGET', 'runtime', 'hop')) + 1, now)), {}
  local page = ask('HSCAN', 'workflow:of', ARGV[2], 'COUNT', 500)
  for i = 2, #(page[2] or {}), 2 do
    for w, n, home in string.gmatch(page[2][i], '(%w+):(%d+):(%S+)') do
      messages[#messages + 1] = { number .. ' end ' .. home .. ' ' .. w .. ' ' .. n .. ' x\n', 0 }
    end
  end
  return { page[1] or '0', messages }
end
local live = ask('ZRANGEBYSCORE', 'sessions', '(' .. nowtext, '+inf')
local jobs, schedules = length('body'), length('schedules')
if how == 'delete' and jobs + #live + schedules > 0 then return { 'used', jobs, #live, schedules } end

if how == 'delete' and call('LLEN', key('workflow:hops')) > 0 then return { 'undelivered', 0, 0, 0 } end

local names = {}
for _, types in ipairs(ALL_TYPES) do
  for name in pairs(types) do names[#names + 1] = name end
end
for _, name in ipairs(statistics_names()) do names[#names + 1] = name end
for _, session in ipairs(ask('ZRANGE', 'sessions', 0, -1)) do
  names[#names + 1] = 'session:' .. session
  names[#names + 1] = 'claims:' .. session
  -- The slots of groups. They would count in a queue of the same name.
  for _, claim in ipairs(ask('HVALS', 'claims:' .. session)) do
    local first, rest = string.match(claim, '^%d+:%d+:%d*:([^/ ]+)([^ ]*)')
    if first then
      names[#names + 1] = 'held:' .. first
      names[#names + 1] = 'held:' .. first .. rest
    end
  end
end
for _, group in ipairs(ask('HKEYS', 'unroutable')) do names[#names + 1] = 'unroutable:' .. group end
for _, member in ipairs(ask('ZRANGE', 'backlog', 0, -1)) do
  names[#names + 1] = 'group:' .. member
  local node = string.match(member, '^(%d:[^/]+)/')
  if node then
    names[#names + 1] = 'groups:' .. node
    names[#names + 1] = 'left:' .. node
  end
end
for _, list in ipairs({ 'workflows', 'workflows:unsealed' }) do
  for _, w in ipairs(ask('ZRANGE', list, 0, -1)) do
    for _, part in ipairs(workflows.PARTS) do names[#names + 1] = part .. ':' .. w end
  end
end
for level = 0, 9 do
  names[#names + 1] = 'groups:' .. level
  names[#names + 1] = 'left:' .. level
end
remove(names)
-- The next heartbeat of these sessions is refused, and they stop what they run.
for _, session in ipairs(live) do call(PUBLISH, key('wakeups:' .. session), 's') end
return { 'deleted', jobs, #live, schedules }
