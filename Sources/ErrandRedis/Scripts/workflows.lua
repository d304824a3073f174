-- workflows: lists workflows, and returns members and results of one. Reads only.
--
-- Arguments  list, offset, the largest number · one, W · members, W, first number, the largest number
--            open, W, cursor · dead, W, cursor (0 at first)
--            results, W, id of a job, how many of the others to leave out, keys of others ('*' for those that it comes after)
--            messages: those for other queues that are to be delivered next
-- Reply      list: next offset (-1: none), then for each its values: W, name, state, round, members, open, dead, on_dead,
--            pushed and ended (ms; 0 if it has not) · one: the values, or nothing
--            members: for each its record (key, @QUEUE if that is another one, and needs), id, how and when it ended ('' if
--            it has not) and its state · open, dead: the next cursor (0: none), then
--            `ID QUEUE` of some; one may come twice
--            results: how many others to leave out of the next call (-1: none follows), then keys and results
--            messages: for each its text, and 1 if nothing of the workflow starts any more
local how, w = ARGV[1], ARGV[2] or ''
local function of(name) return key(name .. ':' .. w) end
local function values_of(token)
  local header = call('HMGET', key('workflow:' .. token), 'name', 'state', 'round', 'on_dead', 'pushed', 'ended')
  if not header[2] or header[2] == 'unsealed' then return nil end
  return {
    token, header[1], header[2], num(header[3]), call('HLEN', key('members:' .. token)), call('SCARD', key('open:' .. token)),
    call('SCARD', key('dead:' .. token)), header[4], num(header[5]), num(header[6]),
  }
end
local function job_of(n) return call('HGET', of('jobs'), n) or w .. '-' .. n end

local function list()
  local first, most = num(ARGV[2]), math.min(num(ARGV[3]), 500)
  local tokens = call('ZREVRANGE', key('workflows'), first, first + most)
  local reply = { #tokens > most and first + most or -1 }
  for i = 1, math.min(#tokens, most) do reply[#reply + 1] = values_of(tokens[i]) end
  return reply
end

local function state_of(id)
  if call('HEXISTS', key('blocked:jobs'), id) == 1 then return 'blocked' end
  for _, name in ipairs({ 'scheduled', 'retrying', 'dead' }) do
    if call('ZSCORE', key(name), id) then return name end
  end
  return call('HEXISTS', key('body'), id) == 1 and 'waiting' or 'gone'
end
local function members()
  local first, reply = num(ARGV[3]), {}
  for n = first, first + math.min(num(ARGV[4]), 1000) - 1 do
    local record = call('HGET', of('members'), whole(n))
    if not record then break end
    local id, ends = job_of(whole(n)), call('HGET', of('ends'), whole(n))
    local state = ends and '' or state_of(id)
    if state == 'gone' and string.find(record, '^[^ ]+@') then state = 'elsewhere' end
    reply[#reply + 1] = { record, id, ends or '', state }
  end
  return reply
end

local function ids_of(set)
  local page, ids = call('SSCAN', of(set), whole(num(ARGV[3])), 'COUNT', 500), {}
  for _, n in ipairs(page[2]) do
    local id, record = job_of(n), call('HGET', of('members'), n) or ''
    local is_here = call('HEXISTS', key('body'), id) == 1
    ids[#ids + 1] = id .. ' ' .. (not is_here and string.match(record, '^[^ @]+@([^ ]+)') or queue)
  end
  table.sort(ids)
  table.insert(ids, 1, page[1])
  return ids
end

local function results()
  local numbers, first = {}, num(ARGV[4])
  local place = string.match(field('workflow:of', ARGV[3]) or '', w .. ':(%d+)') or call('HGET', of('numbers'), ARGV[3])
  if not place then return { -1 } end
  if ARGV[5] == '*' then
    for number in string.gmatch(call('HGET', of('members'), place) or '', ' [saf](%d+)') do numbers[#numbers + 1] = number end
  end
  for i = 5, ARGV[5] ~= '*' and #ARGV or 4 do numbers[#numbers + 1] = call('HGET', of('keys'), ARGV[i]) or nil end
  local last = math.min(first + 500, #numbers)
  local reply = { last < #numbers and last or -1 }
  for i = first + 1, last do
    local number = numbers[i]
    local result = call('HGET', of('outputs'), number)
    if result then
      reply[#reply + 1] = string.match(call('HGET', of('members'), number) or '', '^[^ @]+')
      reply[#reply + 1] = result
    end
  end
  return reply
end

-- At most 100 messages, and 1 MiB and one more.
local function messages()
  local reply, room = {}, 1048576
  for i = 0, 99 do
    local text = room > 0 and call('LINDEX', key('workflow:hops'), i)
    if not text then break end
    room = room - #text
    local token = string.match(text, '^%d+ push %S+ (%w+)') or ''
    local header = call('HMGET', key('workflow:' .. token), 'state', 'cancels')
    reply[#reply + 1] = { text, (header[1] == 'cancelled' or header[2] == '1') and 1 or 0 }
  end
  return reply
end

if how == 'list' then return list() end
if how == 'one' then return values_of(w) or {} end
if how == 'members' then return members() end
if how == 'open' or how == 'dead' then return ids_of(how) end
if how == 'results' then return results() end
if how == 'messages' then return messages() end
return redis.error_reply('ERRAND the action must be list, one, members, open, dead, results or messages')
