-- Events and totals: gathered during the script, published and added at its end.
local lines, bytes, totals = {}, 0, {}
local NAMELESS = '"operation":null,"name":null'

local function sound_fragment(text)
  return string.sub(text, 1, 12) == '"operation":' and text or NAMELESS
end

local function count(what, times) totals[what] = (totals[what] or 0) + (times or 1) end

local function publish()
  if #lines == 0 then return end
  -- One text alone is not copied.
  call('PUBLISH', Q .. ':events', lines[2] and table.concat(lines, '\n') or lines[1])
  lines, bytes = {}, 0
end

-- Lua hashes every text it makes; up to 8 KiB, joining lines makes one only.
local function tell(line)
  if bytes + #line > 8000 then publish() end
  lines[#lines + 1] = line
  bytes = bytes + #line + 1
end

-- An id that came from a list or set may be anything; in an event it must not break the line.
local function printable(id)
  return (string.gsub(string.sub(id, 1, 64), '[^%w_-]', '?'))
end
-- `worker` and `error` are JSON texts; `fragment` is the envelope's `"operation":…,"name":…`.
local function event(kind, id, fragment, attempt, worker, duration, error)
  if string.find(id, '[^%w_-]') then id = printable(id) end
  local line = '{"event":"' .. kind .. '","id":"' .. id .. '",' .. fragment .. ',"queue":"' .. queue .. '","attempt":'
    .. attempt .. ',"worker":' .. worker .. ',"at_ms":' .. nowtext .. ',"duration_ms":' .. duration .. ',"error":' .. error .. '}'
  if #line > 32000 then
    if fragment == NAMELESS then return line end
    return event(kind, id, NAMELESS, attempt, worker, duration, '"too long for an event"')
  end
  tell(line)
  return line
end

local function add_totals()
  for what, n in pairs(totals) do
    local added = redis.pcall('HINCRBY', Q .. ':counters', what, n)
    if type(added) == 'table' and added.err then call('HSET', Q .. ':counters', what, n) end
  end
  totals = {}
end

-- A stored body's priority, timeout, retries and event fragment; nil when the header cannot be read.
local function header(body)
  local priority, timeout, retries, length, from =
    string.match(body or '', '^%d%d%d%d%d%d%d%d%d%d%d%d%d1[idr](%d);(%d*);(%d*);(%d+)\n()')
  if not priority then return nil end
  local fragment = string.sub(body, from, from + num(length) - 1)
  if #fragment > 8192 or string.find(fragment, '%c') or not string.find(fragment, '^"operation":') then fragment = NAMELESS end
  return priority, num(timeout), retries ~= '' and num(retries) or nil, fragment
end

-- Tells as many waiting sessions as there are jobs for them. In a paused queue there are none: they are told when it goes on.
local function wake(jobs)
  if jobs == 0 or num(field('settings', 'paused')) == 1 then return end
  while jobs > 0 and call('EXISTS', Q .. ':idle') == 1 do
    local sessions = call('SPOP', Q .. ':idle', math.min(jobs, 100))
    for _, session in ipairs(sessions) do
      if call('ZSCORE', Q .. ':sessions', session) then
        call('PUBLISH', Q .. ':hints:' .. session, 'w')
        jobs = jobs - 1
      end
    end
  end
end
