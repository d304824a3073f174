-- The common start of all scripts: the queue, the server's clock, and helpers that tolerate invalid values in any key.
local call = redis.call
local Q = KEYS[1] or ''
local queue = string.match(Q, '^errand:{([%w_.-]+)}$')
-- With two keys that never exist, no server of a cluster runs a script while the queue's slot is being moved.
if not queue or KEYS[2] ~= Q .. ':gate' then
  return redis.error_reply('ERRAND the keys must be errand:{queue} and errand:{queue}:gate')
end
-- In a cluster SPUBLISH, which reaches the subscribers of the queue's slot and no other servers.
local PUBLISH = 'PUBLISH'

local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- Lua writes large numbers with an exponent, which Redis must never receive.
local function whole(number) return string.format('%.0f', number) end
local nowtext = whole(now)
-- The stamp in front of a body has thirteen digits, even if the server's clock is not set yet.
local stamp = string.format('%013.0f', now)

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

-- Whether a key exists. Each script call checks a key once, so a job without side records costs nothing.
local known = {}
local function has(name)
  if known[name] == nil then known[name] = call('EXISTS', key(name)) == 1 end
  return known[name]
end
local function field(name, id) return has(name) and call('HGET', key(name), id) end
local function delete_field(name, id) if has(name) then call('HDEL', key(name), id) end end
local function set_field(name, id, value)
  call('HSET', key(name), id, value)
  known[name] = true
end
local function setting(name, default)
  local value = num(field('settings', name))
  if value > 0 then return value end
  return default
end

-- Fills a table of functions when one of them is first called. Most calls need few of a script's functions, and creating
-- each of them takes time.
local function on_use(functions, fill)
  local earlier = getmetatable(functions)
  setmetatable(functions, { __index = function(_, name)
    setmetatable(functions, earlier)
    fill()
    return functions[name]
  end })
end

-- Calls a variadic command in portions that fit on Lua's stack.
local function each_portion(list, step, command, target)
  for from = 1, #list, step do
    call(command, target, unpack(list, from, math.min(from + step - 1, #list)))
  end
end
