-- timetable: returns stored schedules. Reads only.
--
-- Arguments  `due`, and how many to leave out; `all`, and the position from the last page, at first 0; `deleted`, a
--            position and `unscheduled` or `unscheduled:old`, for deleted schedules that programs still declare; or
--            `named`, and names
-- Reply      the server's time (ms), the position of the next page (-1: there is none), then for each schedule:
--            name, definition ('' for none), next tick (`paused`; '' for none), `last:pushed:missed`, record of the
--            deleted one ('')
local A_PAGE, BYTES_A_PAGE = 100, 1048576
local reply = { nowtext, '-1' }

local function add(name, definition)
  local upcoming = call('ZSCORE', key('timetable'), name)
  reply[#reply + 1] = name
  reply[#reply + 1] = definition
  reply[#reply + 1] = upcoming and whole(num(upcoming)) or (call('HEXISTS', key('pauses'), name) == 1 and 'paused' or '')
  reply[#reply + 1] = call('HGET', key('ticks'), name) or ''
  reply[#reply + 1] = record_of_deleted(name)
end

-- Without an order, so that the cost of a page does not grow with the number of schedules. Each command reads as few as
-- possible, because definitions may be large.
local function add_all(cursor)
  local found, bytes = 0, 0
  repeat
    local page = call('HSCAN', key('schedules'), cursor, 'COUNT', 1)
    cursor = page[1]
    for i = 1, #page[2], 2 do
      add(page[2][i], page[2][i + 1])
      found = found + 1
      bytes = bytes + #page[2][i + 1]
    end
  until cursor == '0' or found >= A_PAGE or bytes > BYTES_A_PAGE
  if cursor ~= '0' then reply[2] = cursor end
end

local function add_deleted(cursor, generation)
  local page = call('HSCAN', key(generation), cursor, 'COUNT', A_PAGE)
  if page[1] ~= '0' then reply[2] = page[1] end
  for i = 1, #page[2], 2 do
    if string.find(page[2][i + 1], ' ') then add(page[2][i], '') end
  end
end

-- Large definitions take several calls.
local function add_some(names, from)
  local bytes = 0
  for i, name in ipairs(names) do
    local definition = call('HGET', key('schedules'), name) or ''
    bytes = bytes + #definition
    if bytes > BYTES_A_PAGE and i > 1 then
      reply[2] = whole(from + i - 1)
      return
    end
    add(name, definition)
  end
end

if ARGV[1] == 'due' then
  local from = num(ARGV[2])
  local names = call('ZRANGEBYSCORE', key('timetable'), '-inf', nowtext, 'LIMIT', from, A_PAGE)
  if #names == A_PAGE then reply[2] = whole(from + A_PAGE) end
  add_some(names, from)
elseif ARGV[1] == 'all' or ARGV[1] == 'deleted' then
  if not string.find(ARGV[2] or '', '^%d+$') or #ARGV[2] > 20 then
    return redis.error_reply('ERRAND the position of a page of schedules must come from the previous page')
  end
  if ARGV[1] == 'all' then add_all(ARGV[2]) else add_deleted(ARGV[2], ARGV[3] == 'unscheduled:old' and ARGV[3] or 'unscheduled') end
else
  local names = {}
  for i = 2, math.min(#ARGV, A_PAGE + 1) do names[#names + 1] = ARGV[i] end
  add_some(names, 0)
end
return reply
