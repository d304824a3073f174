-- Events: gathered during the script and published at its end.
local lines, bytes, event_count = {}, 0, 0

-- An entry of the stream has the id `epoch-number of its last event`. Numbers have no gaps, so a reader notices missing
-- events. If the last number is unknown, a new epoch begins.
local function keep_in_stream(text, kept)
  local epoch, last = string.match(call('HGET', key('runtime'), 'stream') or '', '^(%d+)-(%d+)$')
  local function add()
    local number = whole(num(last) + event_count)
    local oldest = epoch .. '-' .. whole(math.max(num(last) + event_count - kept, 0))
    local added = redis.pcall('XADD', key('stream'), 'MINID', '~', oldest, epoch .. '-' .. number, 'e', text)
    return type(added) == 'string' and added
  end
  local id = epoch and add()
  if not id then
    epoch, last = nowtext, 0
    id = add()
  end
  -- If the clock was set back as well, the entries that prevent the addition are older than this one.
  if not id and call('DEL', key('stream')) == 1 then id = add() end
  call('HSET', key('runtime'), 'stream', id or epoch .. '-' .. whole(num(last) + event_count))
end

local function publish()
  if #lines == 0 then return end
  -- A single text is not copied.
  local text = lines[2] and table.concat(lines, '\n') or lines[1]
  call(PUBLISH, key('events'), text)
  local kept = num(field('settings', 'stream'))
  if kept > 0 then keep_in_stream(text, kept) end
  lines, bytes, event_count = {}, 0, 0
end

-- Lua hashes every string that it creates; joining lines of up to 8 KiB creates only one.
local function gather_event(line, events)
  if bytes + #line > 8000 then publish() end
  event_count = event_count + (events or 1)
  lines[#lines + 1] = line
  bytes = bytes + #line + 1
end

-- Whether the events of a call have a reader: a connection that has subscribed to the channel or to any pattern, the stream,
-- or a replica, even one that has just left, because replicas pass on what they receive to subscribers of their own. A few
-- events are made without asking, which would take longer. If the server does not say, events are made.
local has_readers
local function is_heard(events)
  if has_readers == nil and events < 16 then return true end
  if has_readers == nil then
    local channel, is_sharded = key('events'), PUBLISH == 'SPUBLISH'
    local subscribers = is_sharded and redis.pcall('PUBSUB', 'SHARDNUMSUB', channel) or redis.pcall('PUBSUB', 'NUMSUB', channel)
    local patterns = subscribers[2] == 0 and redis.pcall('PUBSUB', 'NUMPAT')
    local replication = patterns == 0 and num(field('settings', 'stream')) == 0 and redis.pcall('INFO', 'replication')
    has_readers = type(replication) ~= 'string' or not string.find(replication, '\nconnected_slaves:0\r', 1, true)
      or not string.find(replication, '\nrepl_backlog_active:0\r', 1, true)
  end
  return has_readers
end

-- `worker` and `error` are JSON texts; `fragment` is the envelope's `"operation":…,"name":…,"tags":…`.
local function event(kind, id, fragment, attempt, worker, duration, error)
  if string.find(id, '[^%w_-]') then id = printable(id) end
  local line = '{"event":"' .. kind .. '","id":"' .. id .. '",' .. fragment .. ',"queue":"' .. queue .. '","attempt":'
    .. attempt .. ',"worker":' .. worker .. ',"at_ms":' .. nowtext .. ',"duration_ms":' .. duration .. ',"error":' .. error .. '}'
  if #line > 32000 then
    if error == '"too long for an event"' then return line end
    return event(kind, id, NAMELESS, attempt, worker, duration, '"too long for an event"')
  end
  gather_event(line)
  return line
end
