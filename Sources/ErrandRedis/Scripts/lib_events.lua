-- Events and totals: gathered during the script, published and added at its end.
local lines, bytes, told, totals = {}, 0, 0, {}
local NAMELESS = '"operation":null,"name":null'
-- What would break the line of an event; U+007F may stand in a JSON text as it is.
local CONTROL = '[%z\1-\31]'

local function sound_fragment(text)
  return string.sub(text, 1, 12) == '"operation":' and text or NAMELESS
end

local function count(what, times) totals[what] = (totals[what] or 0) + (times or 1) end

-- An entry of the stream has the id `epoch-number of its last event`: numbers have no holes, so a reader notices what it has
-- missed. A new epoch begins where the last number is not known.
local function keep_in_stream(text, kept)
  local epoch, last = string.match(call('HGET', Q .. ':seq', 'stream') or '', '^(%d+)-(%d+)$')
  local function add()
    local number = whole(num(last) + told)
    local oldest = epoch .. '-' .. whole(math.max(num(last) + told - kept, 0))
    local added = redis.pcall('XADD', Q .. ':stream', 'MINID', '~', oldest, epoch .. '-' .. number, 'e', text)
    return type(added) == 'string' and added
  end
  local id = epoch and add()
  if not id then
    epoch, last = nowtext, 0
    id = add()
  end
  -- Where the clock was put back, too, what is in the way is older than this.
  if not id and call('DEL', Q .. ':stream') == 1 then id = add() end
  call('HSET', Q .. ':seq', 'stream', id or epoch .. '-' .. whole(num(last) + told))
end

local function publish()
  if #lines == 0 then return end
  -- One text alone is not copied.
  local text = lines[2] and table.concat(lines, '\n') or lines[1]
  call('PUBLISH', Q .. ':events', text)
  local kept = num(field('settings', 'stream'))
  if kept > 0 then keep_in_stream(text, kept) end
  lines, bytes, told = {}, 0, 0
end

-- Lua hashes every text it makes; up to 8 KiB, joining lines makes one only.
local function tell(line, events)
  if bytes + #line > 8000 then publish() end
  told = told + (events or 1)
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
    if error == '"too long for an event"' then return line end
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
    string.match(body or '', '^%d%d%d%d%d%d%d%d%d%d%d%d%d1[idrDR](%d);(%d*);(%d*);(%d+)\n()')
  if not priority then return nil end
  local fragment = string.sub(body, from, from + num(length) - 1)
  if #fragment > 8192 or string.find(fragment, CONTROL) or not string.find(fragment, '^"operation":') then fragment = NAMELESS end
  return priority, num(timeout), retries ~= '' and num(retries) or nil, fragment
end

-- Where a job is parked of which no session knew the operation: what is behind `parked:` in its line's name, and its field in `parked`.
local function parking(operation, body)
  local priority = header(body)
  return (priority or '5') == '5' and operation or operation .. ':' .. priority
end

-- The operation and the priority of a field of `parked`; no operation where somebody made the field up.
local function parked_there(lot)
  local operation, level = string.match(lot, '^([%w_.-]+):?(%d?)$')
  return operation, tonumber(level) or 5
end

-- Hands the one new job to a waiting session, which then need not come for it: set by a script that does that. Answers whether it
-- did, or nil when nobody listens there.
local hand_over

-- Tells as many waiting sessions as there are jobs for them. In a paused queue there are none: they are told when it goes on.
local function wake(jobs)
  if jobs == 0 or num(field('settings', 'paused')) == 1 then return end
  while jobs > 0 and call('EXISTS', Q .. ':idle') == 1 do
    local sessions = call('SPOP', Q .. ':idle', math.min(jobs, 100))
    for _, session in ipairs(sessions) do
      local ends = call('ZSCORE', Q .. ':sessions', session)
      local handed = false
      if ends and hand_over then handed = hand_over(session, num(ends)) end
      if ends and handed == false then call('PUBLISH', Q .. ':hints:' .. session, 'w') end
      if ends and handed ~= nil then jobs = jobs - 1 end
    end
  end
end
