-- The types of the queue's keys.
local TYPES = {
  body = 'hash', runtime = 'hash', counters = 'hash', ended = 'hash', sessions = 'zset', idle = 'set', settings = 'hash', ['ready:5'] = 'list',
}
-- Keys that a queue of plain jobs lacks, those of groups and workflows, and keys that it has at times: one command checks
-- each part.
local SELDOM = {
  unique = 'hash', ['unique:of'] = 'hash', running = 'hash', successors = 'hash', stops = 'hash', failures = 'hash', crashes = 'hash',
  solo_crashes = 'hash', errors = 'hash', progress = 'hash', checkpoints = 'hash', alias = 'hash', ['alias:of'] = 'hash',
  tombstones = 'hash', unroutable = 'hash', debounced = 'hash', throttled = 'hash', ['throttled:ends'] = 'zset',
  quarantined = 'list', ['ready:0'] = 'list', ['ready:1'] = 'list', ['ready:2'] = 'list', ['ready:3'] = 'list',
  ['ready:4'] = 'list', ['ready:6'] = 'list', ['ready:7'] = 'list', ['ready:8'] = 'list', ['ready:9'] = 'list',
}
local COMBINED = {
  flow = 'hash', backlog = 'zset', held_back = 'hash', blocked = 'hash', tat = 'zset', resting = 'zset', waiting = 'hash',
  ['workflow:of'] = 'hash', ['workflow:work'] = 'list', ['workflow:hops'] = 'list', ['workflow:names'] = 'hash',
  ['blocked:released'] = 'list', ['blocked:jobs'] = 'hash', ['blocked:order'] = 'zset', workflows = 'zset',
  ['workflows:unsealed'] = 'zset', ['workflows:ended'] = 'zset',
}
local AT_TIMES = {
  history = 'hash', ['history:order'] = 'list', ['ended:old'] = 'hash', scheduled = 'zset', retrying = 'zset', dead = 'zset',
  stream = 'stream', cursors = 'hash',
}
-- The functions of workflows, with what a call has changed: the workflows, those of which nothing starts any more, the ends
-- that were noted, how many jobs are ready because others ended, and whether it leaves something to later calls.
local workflows = { changed = {}, stopped = {}, noted = {}, freed = 0, is_busy = false }
-- The keys of a workflow, each with its token behind a colon.
workflows.PARTS = { 'workflow', 'members', 'numbers', 'keys', 'jobs', 'ends', 'outputs', 'needs', 'dependants', 'open', 'dead', 'hops' }

-- The type of a key, if it exists and has another type than expected.
local function wrong_type(name, expected)
  local found = call('TYPE', key(name)).ok
  if found == 'none' then return nil end
  if found ~= expected then return found end
  known[name] = true
end

-- A call to a key that few scripts check. One of a wrong type counts as missing; the doctor reports it.
local function try(...)
  local reply = redis.pcall(...)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if string.find(reply.err, '^WRONGTYPE') then return nil end
  error(reply)
end

local function wrong_type_error(name, expected, found)
  return redis.error_reply('WRONGTYPE the key ' .. key(name) .. ' is a ' .. found .. ' and must be a ' .. expected)
end

-- The error for the first of these keys with a wrong type. The length of a key says so, too, and its reply costs less than
-- that of TYPE.
local LENGTHS = { hash = 'HLEN', zset = 'ZCARD', list = 'LLEN', set = 'SCARD' }
local function type_error(types)
  for name, expected in pairs(types) do
    local length = LENGTHS[expected] and redis.pcall(LENGTHS[expected], key(name))
    local is_sound = type(length) == 'number'
    local found = not is_sound and wrong_type(name, expected)
    if found then return wrong_type_error(name, expected, found) end
    if is_sound and length > 0 then known[name] = true end
  end
end

-- Whether any key of these tables exists.
local function any_exists(...)
  local keys, count, start = {}, 0, Q .. ':'
  for _, types in ipairs({ ... }) do
    for name in pairs(types) do
      count = count + 1
      keys[count] = start .. name
    end
  end
  return call('EXISTS', unpack(keys)) > 0
end

-- The error for a session's keys, or for the lists of unroutable jobs.
local function session_type_error(session)
  return type_error({ ['session:' .. session] = 'hash', ['claims:' .. session] = 'hash' })
end
-- If there are very many, which are invented operations, each script checks a list before it uses it.
local function unroutable_type_error()
  if call('HLEN', key('unroutable')) > 100 then return end
  local types = {}
  for _, operation in ipairs(call('HKEYS', key('unroutable'))) do types['unroutable:' .. operation] = 'list' end
  return type_error(types)
end
