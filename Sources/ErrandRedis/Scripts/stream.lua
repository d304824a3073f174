-- stream: returns a page of the durable stream of events.
--
-- Arguments  cursor (the id of the event that was read last; 0-0 for none), the largest number of entries
-- Reply      how many events the queue keeps (0: none), id of the last one that was written ('' if none ever was), then
--            for each entry the id of its last event and its lines
local cursor = ARGV[1] or ''
if not string.find(cursor, '^%d+%-%d+$') then return redis.error_reply('ERRAND a cursor is two numbers with a dash between') end
local wrong = type_error({ stream = 'stream', runtime = 'hash', settings = 'hash' })
if wrong then return wrong end

local reply, size = { num(field('settings', 'stream')), call('HGET', key('runtime'), 'stream') or '' }, 0
local from, left = '(' .. cursor, math.max(1, math.min(num(ARGV[2]), 100))
-- Reads ten at a time, so that large entries do not pile up in memory.
while left > 0 and size < 1048576 do
  local entries = call('XRANGE', key('stream'), from, '+', 'COUNT', math.min(left, 10))
  for _, entry in ipairs(entries) do
    reply[#reply + 1] = entry[1]
    reply[#reply + 1] = entry[2][2]
    size = size + #entry[2][2]
    from = '(' .. entry[1]
  end
  if #entries < 10 then break end
  left = left - 10
end
return reply
