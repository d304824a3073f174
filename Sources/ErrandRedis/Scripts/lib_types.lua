-- The types of the model's keys.
local TYPES = {
  body = 'hash', runtime = 'hash', counters = 'hash', ended = 'hash', sessions = 'zset', idle = 'set', ['ready:5'] = 'list',
}
-- Keys that a queue of plain jobs lacks, and those that it has at times, are asked for together.
local SELDOM = {
  unique = 'hash', ['unique:of'] = 'hash', running = 'hash', successors = 'hash', stops = 'hash', failures = 'hash', crashes = 'hash',
  solo_crashes = 'hash', errors = 'hash', progress = 'hash', checkpoints = 'hash', alias = 'hash', ['alias:of'] = 'hash',
  tombstones = 'hash', settings = 'hash', unroutable = 'hash',
  quarantined = 'list', ['ready:0'] = 'list', ['ready:1'] = 'list', ['ready:2'] = 'list', ['ready:3'] = 'list',
  ['ready:4'] = 'list', ['ready:6'] = 'list', ['ready:7'] = 'list', ['ready:8'] = 'list', ['ready:9'] = 'list',
}
local AT_TIMES = {
  history = 'hash', ['history:order'] = 'list', ['ended:old'] = 'hash', scheduled = 'zset', retrying = 'zset', dead = 'zset',
  stream = 'stream', cursors = 'hash',
}

-- What a key is, when it is there and is something else than it should be.
local function wrong_type(name, expected)
  local found = call('TYPE', key(name)).ok
  if found ~= 'none' and found ~= expected then return found end
end

local function wrong_type_error(name, expected, found)
  return redis.error_reply('WRONGTYPE the key ' .. key(name) .. ' is a ' .. found .. ' and must be a ' .. expected)
end

-- The error for the first of these keys that has the wrong type.
local function type_error(types)
  for name, expected in pairs(types) do
    local found = wrong_type(name, expected)
    if found then return wrong_type_error(name, expected, found) end
  end
end

local function any_exists(types)
  local keys = {}
  for name in pairs(types) do keys[#keys + 1] = key(name) end
  return call('EXISTS', unpack(keys)) > 0
end

-- The error for a session's keys, or for the lists of unroutable jobs.
local function session_type_error(session)
  return type_error({ ['session:' .. session] = 'hash', ['claims:' .. session] = 'hash' })
end
-- Of very many, which somebody must have made up, whoever touches one looks at it first.
local function unroutable_type_error()
  if call('HLEN', key('unroutable')) > 100 then return end
  local types = {}
  for _, operation in ipairs(call('HKEYS', key('unroutable'))) do types['unroutable:' .. operation] = 'list' end
  return type_error(types)
end
