-- The common start of all scripts: the queue, numbers and the names of keys.
local call = redis.call
local Q = KEYS[1] or ''
local queue = string.match(Q, '^errand:{([%w_.-]+)}$')
-- With two keys that never exist, no server of a cluster runs a script while the queue's slot is being moved.
if not queue or KEYS[2] ~= Q .. ':gate' then
  return redis.error_reply('ERRAND the keys must be errand:{queue} and errand:{queue}:gate')
end
-- In a cluster SPUBLISH, which reaches the subscribers of the queue's slot and no other servers.
local PUBLISH = 'PUBLISH'

-- Lua writes large numbers with an exponent, which Redis must never receive.
local function whole(number) return string.format('%.0f', number) end

-- Converts a field, which may be missing or invalid, to a number.
local function num(value)
  local number = tonumber(value or 0)
  if not number or number ~= number or number > 9e15 or number < -9e15 then return 0 end
  return math.floor(number)
end

-- The names of the queue's keys.
local function key(name) return Q .. ':' .. name end
local function session_key(session) return Q .. ':session:' .. session end
local function claims_key(session) return Q .. ':claims:' .. session end
-- The server's clock in milliseconds, and as the server gives it.
local function read_clock()
  local clock = call('TIME')
  return clock[1] * 1000 + math.floor(clock[2] / 1000), clock
end
