-- The fields of keys and other helpers that tolerate invalid values. What the usual call of an idle queue does not need is here
-- and not in lib_base, because creating functions takes time.

-- The stamp in front of a body has thirteen digits, even if the server's clock is not set yet.
local stamp = string.format('%013.0f', now)

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
-- How many jobs a queue may have, unless a setting says otherwise.
local MOST_JOBS = 10000000
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
