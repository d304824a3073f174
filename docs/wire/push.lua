#!lua
-- What every script starts with: the queue, the server's clock, and helpers that survive garbage in any key.
local call = redis.call
local Q = KEYS[1] or ''
local queue = string.match(Q, '^errand:{([%w_.-]+)}$')
if not queue then return redis.error_reply('ERRAND the only key must be errand:{queue}') end

local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- Lua writes large numbers with an exponent; Redis must never see one.
local function whole(number) return string.format('%.0f', number) end
local nowtext = whole(now)
-- The stamp in front of a body has thirteen digits, whatever a clock says that nobody has set yet.
local stamp = string.format('%013.0f', now)

-- A field that may be missing or garbage, as a number.
local function num(value)
  local number = tonumber(value or 0)
  if not number or number ~= number or number > 9e15 or number < -9e15 then return 0 end
  return math.floor(number)
end

-- The names of the queue's keys.
local function key(name) return Q .. ':' .. name end
local function session_key(session) return Q .. ':session:' .. session end
local function claims_key(session) return Q .. ':claims:' .. session end

-- Whether a key exists. Side records are asked for once a call, so a job without them costs nothing.
local known = {}
local function has(name)
  if known[name] == nil then known[name] = call('EXISTS', key(name)) == 1 end
  return known[name]
end
local function field(name, id) return has(name) and call('HGET', key(name), id) end
local function drop(name, id) if has(name) then call('HDEL', key(name), id) end end
local function put(name, id, value)
  call('HSET', key(name), id, value)
  known[name] = true
end
local function setting(name, default)
  local value = num(field('settings', name))
  if value > 0 then return value end
  return default
end

-- Calls a variadic command in portions that Lua's stack can hold.
local function each_portion(list, step, command, target)
  for from = 1, #list, step do
    call(command, target, unpack(list, from, math.min(from + step - 1, #list)))
  end
end
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
-- Redis does not roll back, so a key of a wrong type has to show before the first write: the script ends here.
local special = any_exists(SELDOM)
do
  local wrong = type_error(TYPES) or (special and (type_error(SELDOM) or unroutable_type_error()))
    or (any_exists(AT_TIMES) and type_error(AT_TIMES))
  if wrong then return wrong end
end
-- What stored bodies and ids say, however damaged they are.
local NAMELESS = '"operation":null,"name":null'
-- What would break the line of an event; U+007F may stand in a JSON text as it is.
local CONTROL = '[%z\1-\31]'

local function sound_fragment(text)
  return string.sub(text, 1, 12) == '"operation":' and text or NAMELESS
end

-- An id that came from a list or set may be anything; in an event it must not break the line.
local function printable(id)
  return (string.gsub(string.sub(id, 1, 64), '[^%w_-]', '?'))
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

-- The field of `unroutable`, and the end of its list's name, for jobs of an operation that no live session has.
local function unroutable_field(operation, body)
  local priority = header(body)
  return (priority or '5') == '5' and operation or operation .. ':' .. priority
end

-- The operation and the priority of such a field; no operation if the field is not valid.
local function parse_unroutable_field(group)
  local operation, level = string.match(group, '^([%w_.-]+):?(%d?)$')
  return operation, tonumber(level) or 5
end
-- Events and totals: gathered during the script, published and added at its end.
local lines, bytes, told, totals = {}, 0, 0, {}
local function count(what, times) totals[what] = (totals[what] or 0) + (times or 1) end

-- An entry of the stream has the id `epoch-number of its last event`: numbers have no holes, so a reader notices what it has
-- missed. A new epoch begins where the last number is not known.
local function keep_in_stream(text, kept)
  local epoch, last = string.match(call('HGET', key('runtime'), 'stream') or '', '^(%d+)-(%d+)$')
  local function add()
    local number = whole(num(last) + told)
    local oldest = epoch .. '-' .. whole(math.max(num(last) + told - kept, 0))
    local added = redis.pcall('XADD', key('stream'), 'MINID', '~', oldest, epoch .. '-' .. number, 'e', text)
    return type(added) == 'string' and added
  end
  local id = epoch and add()
  if not id then
    epoch, last = nowtext, 0
    id = add()
  end
  -- Where the clock was put back, too, what is in the way is older than this.
  if not id and call('DEL', key('stream')) == 1 then id = add() end
  call('HSET', key('runtime'), 'stream', id or epoch .. '-' .. whole(num(last) + told))
end

local function publish()
  if #lines == 0 then return end
  -- One text alone is not copied.
  local text = lines[2] and table.concat(lines, '\n') or lines[1]
  call('PUBLISH', key('events'), text)
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
    local added = redis.pcall('HINCRBY', key('counters'), what, n)
    if type(added) == 'table' and added.err then call('HSET', key('counters'), what, n) end
  end
  totals = {}
end
-- Wakes sessions that wait for jobs.
-- Hands the one new job to a waiting session, which then need not come for it: set by a script that does that. Answers whether it
-- did, or nil when nobody listens there.
local dispatch

-- Tells as many waiting sessions as there are jobs for them. In a paused queue there are none: they are told when it goes on.
local function wake(jobs)
  if jobs == 0 or num(field('settings', 'paused')) == 1 then return end
  while jobs > 0 and call('EXISTS', key('idle')) == 1 do
    local sessions = call('SPOP', key('idle'), math.min(jobs, 100))
    for _, session in ipairs(sessions) do
      local ends = call('ZSCORE', key('sessions'), session)
      local dispatched = false
      if ends and dispatch then dispatched = dispatch(session, num(ends)) end
      if ends and dispatched == false then call('PUBLISH', key('wakeups:' .. session), 'w') end
      if ends and dispatched ~= nil then jobs = jobs - 1 end
    end
  end
end
-- The lists of ready, quarantined and unroutable jobs: how a job enters and leaves them.
local QUARANTINE_AFTER = 3
-- How many jobs this script has made ready.
local fresh = 0
-- The bytes of bodies that the script may still read: of large jobs a call handles fewer.
local room = 8388608

-- The entry under which a job comes into a line: its id, or another text while that stands for something else somewhere: for a job
-- that took over the place of an older one of this id, or for an older one that has left and is yet to be skipped.
local function is_taken(entry) return field('alias', entry) or field('tombstones', entry) end
local function entry_for(id)
  if not is_taken(id) then return id end
  local entry, at = id .. ':' .. nowtext, now
  while is_taken(entry) do
    at = at + 1
    entry = id .. ':' .. whole(at)
  end
  put('alias', entry, id)
  put('alias:of', id, entry)
  return entry
end

-- To the end of its line, or scheduled. The ready-since stamp in front of the body starts anew.
local function line_up(id, body, due)
  local priority = header(body)
  if due > now then
    call('ZADD', key('scheduled'), whole(due), id)
  else
    if priority then call('HSET', key('body'), id, stamp .. string.sub(body, 14)) end
    if num(field('crashes', id)) >= QUARANTINE_AFTER then call('RPUSH', key('quarantined'), entry_for(id))
    else call('RPUSH', key('ready:' .. (priority or '5')), entry_for(id)) end
    fresh = fresh + 1
  end
end

-- Back to the head of its line, where it was.
local function give_back(id, body)
  if num(field('crashes', id)) >= QUARANTINE_AFTER then call('RPUSH', key('quarantined'), entry_for(id))
  else call('LPUSH', key('ready:' .. (header(body) or '5')), entry_for(id)) end
  drop('running', id)
  fresh = fresh + 1
end

-- A claim as it is kept: its token, its hard deadline and, where the token does not tell, the time at which it was made: tokens
-- run ahead of a clock that was put back.
local function claim_text(token, deadline)
  return token .. ':' .. whole(deadline) .. (math.floor(num(token) / 1000) ~= now and ':' .. nowtext or '')
end

-- The entry of a line at which a job stands: its own id, or that of the job whose place it took over.
local function entry_of(id) return field('alias:of', id) or id end

-- Takes a job out of its line: out of a short line at once, else by a tombstone that a claim skips.
local function leave_line(id, body)
  local entry = entry_of(id)
  drop('alias', entry)
  drop('alias:of', id)
  local priority, _, _, fragment = header(body)
  local lines_of = { key('ready:' .. (priority or '5')) }
  if has('quarantined') then lines_of[#lines_of + 1] = key('quarantined') end
  local operation = fragment and has('unroutable') and string.match(fragment, '^"operation":"([%w_.-]+)"')
  local group = operation and unroutable_field(operation, body)
  if group and not wrong_type('unroutable:' .. group, 'list') then lines_of[#lines_of + 1] = key('unroutable:' .. group) end
  for n, line in ipairs(lines_of) do
    if call('LLEN', line) <= 1000 and call('LREM', line, 1, entry) == 1 then
      if n > 1 and group and line == key('unroutable:' .. group) then
        local left = call('LLEN', line)
        if left > 0 then put('unroutable', group, left) else drop('unroutable', group) end
      end
      return
    end
  end
  put('tombstones', entry, num(field('tombstones', entry)) + 1)
end
-- Unique names, and the successors that wait for their holders.
-- The job that waits for another one's end comes into line, and starts to wait there: at the head where the other one stood there,
-- or would stand again.
local function come_next(id, body, due, at_head)
  if due > now or not at_head then return line_up(id, body, due) end
  if header(body) then call('HSET', key('body'), id, stamp .. string.sub(body, 14)) end
  give_back(id, body)
end

-- Gives the name up: to the successor, who then goes to its place, or to whoever comes next.
local function leave_name(id, at_head)
  local name, successor_entry = field('unique:of', id), field('successors', id)
  -- Without a name there is nothing of the kind, unless a key was lost.
  if not (name or successor_entry) then return drop('running', id) end
  local due, successor = string.match(successor_entry or '', '^(%d+):(.+)$')
  local body = successor and call('HGET', key('body'), successor)
  if body then
    if name then call('HSET', key('unique'), name, successor) end
    come_next(successor, body, num(due), at_head)
  elseif name and call('HGET', key('unique'), name) == id then
    call('HDEL', key('unique'), name)
  end
  drop('successors', id)
  drop('running', id)
  drop('unique:of', id)
end

local function successor_of(id)
  local successor_entry = field('successors', id)
  return successor_entry and string.match(successor_entry, '^%d+:(.+)$')
end

-- A successor leaves its holder alone: what it asked of it is taken back, as far as the holder has not heard of it yet.
local function leave_holder(holder)
  drop('successors', holder)
  if field('stops', holder) == 'replace' then drop('stops', holder) end
end
-- What is remembered of ended jobs: their ids, and for a day their last events, errors and results.
local HISTORY_KEPT, HISTORY_BYTES, HISTORY_MS, IDS_KEPT = 10000, 67108864, 86400000, 500000
local ERRORS_KEPT, ERRORS_BYTES = 10, 16384
local ended, kept, records = {}, 0, 0

local function remember_all(ids, first, how)
  local n = #ended
  for i = first, #ids do
    ended[n + 1], ended[n + 2] = ids[i], how
    n = n + 2
  end
end
local function remember(id, how) remember_all({ id }, 1, how) end

-- The errors of a job's runs: their events, the newest first, with tabs between them, which no event holds.
local function keep_error(id, line)
  local kept_lines, size = { line }, #line
  for earlier in string.gmatch(field('errors', id) or '', '[^\t]+') do
    size = size + 1 + #earlier
    if #kept_lines == ERRORS_KEPT or size > ERRORS_BYTES then break end
    kept_lines[#kept_lines + 1] = earlier
  end
  put('errors', id, table.concat(kept_lines, '\t'))
end

-- A record is the letter of how the job ended, its last event and those of its errors, and its result after a line feed.
local function keep_history(id, how, line, result)
  local errors = field('errors', id)
  local record = how .. line .. (errors and '\t' .. errors or '') .. '\n' .. (result or '')
  records = records + 1
  kept = kept + #record - call('HSTRLEN', key('history'), id)
  call('HSET', key('history'), id, record)
  call('RPUSH', key('history:order'), nowtext .. ':' .. id)
end

local function flush_ended()
  if #ended == 0 then return end
  local window = setting('remember_ms', 60000)
  local since = num(call('HGET', key('runtime'), 'ended_at'))
  -- A clock that was put back is no reason to forget anything: the window begins anew.
  if since > now then
    since = now
    call('HSET', key('runtime'), 'ended_at', nowtext)
  end
  if since == 0 or now - since >= window or call('HLEN', key('ended')) >= IDS_KEPT then
    if since > 0 and call('EXISTS', key('ended')) == 1 then
      -- Half a million ids take a tenth of a second to free, so the server does that beside its work. A user who may not UNLINK waits.
      redis.pcall('UNLINK', key('ended:old'))
      call('RENAME', key('ended'), key('ended:old'))
    end
    call('HSET', key('runtime'), 'ended_at', nowtext)
  end
  each_portion(ended, 1000, 'HSET', key('ended'))
  call('PEXPIRE', key('ended'), whole(2 * window))
  ended = {}
end

-- Also where nothing ends any more.
local function expire_history()
  for _, name in ipairs({ 'history', 'history:order' }) do
    call('PEXPIRE', key(name), whole(setting('keep_ms', HISTORY_MS)))
  end
end

local function trim_history()
  if kept == 0 and records == 0 then return end
  local order, oldest = key('history:order'), now - setting('keep_ms', HISTORY_MS)
  -- Where all had expired, nothing of it counts any more.
  local stored = kept + (call('LLEN', order) > records and num(call('HGET', key('runtime'), 'history_bytes')) or 0)
  for _ = 1, records + 100 do
    local head = call('LINDEX', order, 0)
    if not head then
      -- Then whatever was counted wrong is forgotten as well.
      stored = 0
      break
    end
    local at, id = string.match(head, '^(%d+):(.*)$')
    local record = id and call('HGET', key('history'), id)
    -- Otherwise it was deleted, or is a newer one of the same id, which has an entry of its own.
    local stands = record and string.find(string.match(record, '^[^\t]*'), '"at_ms":' .. at .. ',', 1, true)
    local fits = stored <= HISTORY_BYTES and call('LLEN', order) <= HISTORY_KEPT
    if stands and num(at) > oldest and fits then break end
    call('LPOP', order)
    if stands then
      stored = stored - #record
      call('HDEL', key('history'), id)
    end
  end
  call('HSET', key('runtime'), 'history_bytes', whole(math.max(stored, 0)))
  expire_history()
  kept, records = 0, 0
end
-- How jobs end.
local DEAD_KEPT = 100000

-- Attempts and crash counts begin anew.
local function forget_runs(id)
  drop('failures', id)
  drop('crashes', id)
  drop('solo_crashes', id)
  drop('stops', id)
  drop('progress', id)
end
-- Removes what is kept beside a body.
local function forget_sides(id)
  forget_runs(id)
  drop('errors', id)
  drop('checkpoints', id)
end

-- Ends a job for good: `how` is a letter of the ended record (f finished, c cancelled, r replaced, x deleted).
local function end_job(id, how, line, result, at_head)
  if line then keep_history(id, how, line, result) end
  remember(id, how)
  leave_name(id, at_head)
  forget_sides(id)
  call('HDEL', key('body'), id)
end

-- Ends a job whose claim is over and whose successor waits. Answers whether there was one. It comes to the head of its line where the job
-- itself would have come back there; otherwise who is replaced again and again would never run in a line that is long.
local function superseded(id, fragment, attempt, worker, line, at_head)
  if not successor_of(id) then return false end
  event('replaced', id, fragment, attempt, worker, 0, 'null')
  count('replaced')
  end_job(id, 'r', line, nil, at_head)
  return true
end

local function trim_dead()
  if call('ZCARD', key('dead')) < DEAD_KEPT then return end
  local oldest = call('ZPOPMIN', key('dead'))[1]
  call('HDEL', key('body'), oldest)
  forget_sides(oldest)
  remember(oldest, 'x')
  count('dead_trimmed')
end

-- Sets a job aside for a person. Its name is free from now on.
local function die(id, fragment, attempt, worker, duration, error)
  local line = event('dead', id, fragment, attempt, worker, duration, error)
  count('dead')
  -- First, for a clock that was put back makes the new one look the oldest.
  trim_dead()
  call('ZADD', key('dead'), nowtext, id)
  keep_error(id, line)
  leave_name(id)
  drop('stops', id)
end

-- A member of a line or a due set without a body: garbage, unless its job has just ended.
local function bury(id, reason)
  if call('ZSCORE', key('dead'), id) then return count('strays') end
  local made = call('HSETNX', key('body'), id, '') == 1
  if made and (field('ended', id) or field('ended:old', id)) then
    call('HDEL', key('body'), id)
    return count('strays')
  end
  die(id, NAMELESS, 0, 'null', 0, reason or '"its body is missing"')
end

-- Writes what the script gathered. Every script that changes jobs ends with it.
local function settle()
  flush_ended()
  trim_history()
  publish()
  add_totals()
  wake(fresh)
end
-- Taking jobs into the queue: the same for those that producers push and for those of schedules. A job is five values in
-- ARGV: id, due, policy, name, envelope; `from` is where the first one begins.
local function problem(i)
  local id, due, policy, name, envelope = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  if #id < 1 or #id > 64 or string.find(id, '[^%w_-]') then return 'the id must match [A-Za-z0-9_-]{1,64}' end
  if #due > 15 or not string.find(due, '^%d+$') then return 'the due time must be milliseconds since 1970' end
  -- Ten digits are seconds of these centuries, and as milliseconds weeks or years after 1970.
  if #due >= 10 and #due <= 12 then return 'the due time must be milliseconds since 1970; it looks like seconds' end
  if not string.find(policy, '^[idrDR]$') then return 'the policy must be i, d, r, D or R' end
  if (policy == 'i') ~= (name == '') then return 'a name goes with the policies d, r, D and R, and only with them' end
  if #name > 1024 then return 'the name is longer than 1024 bytes' end
  if #envelope > 1200000 then return 'the envelope is longer than 1200000 bytes' end
  if string.sub(envelope, 1, 2) ~= '1' .. policy or not string.find(envelope, '^1[idrDR]%d;%d*;%d*;%d+\n') then
    return 'the envelope must begin with a header of version 1 and the same policy'
  end
end

-- How many of the jobs, from the first, there is room for. A job that the queue knows needs none: it was taken already and is sent
-- again, and its receipt says so also when the queue is full.
local function count_fitting(from, room)
  local fitting = 0
  for i = from, #ARGV, 5 do
    local id = ARGV[i]
    local is_known = call('HEXISTS', key('body'), id) == 1 or field('ended', id) or field('ended:old', id)
    if not is_known then
      if room <= 0 then break end
      room = room - 1
    end
    fitting = fitting + 1
  end
  return fitting
end

-- The error for jobs that do not all fit. Its first word says how many do, from the first, so that the caller can send these alone.
local function refuse_as_full(fitting, jobs, waiting, gone, most)
  local what = 'is full'
  if fitting > 0 then what = 'has room for ' .. fitting .. ' of these ' .. jobs .. ' jobs' end
  local places = gone > 0 and ', ' .. gone .. ' of them places of jobs that left' or ''
  return redis.error_reply('ERRANDFULL ' .. fitting .. ' queue "' .. queue .. '" ' .. what .. ': it holds ' .. waiting .. places
    .. ', its limit is ' .. whole(most) .. '; wait, or raise the limit with errand queue limit ' .. queue)
end

-- What is wrong with the jobs, as an error reply, and how many the queue holds; every check comes before the first write.
local function refuse_jobs(from)
  for i = from, #ARGV, 5 do
    local what = problem(i)
    if what then return redis.error_reply('ERRAND job ' .. (i - from + 5) / 5 .. ': ' .. what) end
  end
  local waiting, most, jobs = call('HLEN', key('body')), setting('maximum', 10000000), (#ARGV - from + 1) / 5
  -- A job that has left a long line keeps its place there until that comes to the head.
  local gone = has('tombstones') and call('HLEN', key('tombstones')) or 0
  waiting = waiting + gone
  if waiting + jobs > most then
    local fitting = count_fitting(from, most - waiting)
    if fitting < jobs then return refuse_as_full(fitting, jobs, waiting, gone, most) end
  end
  -- A line of the wrong type shows here, before anything is written.
  local checked = {}
  for i = from, #ARGV, 5 do
    local place = ARGV[i + 1] == '0' and 'ready:' .. string.sub(ARGV[i + 4], 3, 3) or 'scheduled'
    if not checked[place] then call(place == 'scheduled' and 'ZCARD' or 'LLEN', key(place)) end
    checked[place] = true
  end
  return nil, waiting
end

-- Bodies and entries of plain jobs are gathered and written with one command each.
local bodies, entries, seen = {}, {}, {}
local function gather(id, envelope, due)
  local level = string.sub(envelope, 3, 3)
  bodies[#bodies + 1] = id
  bodies[#bodies + 1] = stamp .. envelope
  seen[id] = true
  if num(due) > now then
    call('ZADD', key('scheduled'), due, id)
  else
    local line = entries[level]
    if not line then
      line = {}
      entries[level] = line
    end
    line[#line + 1] = entry_for(id)
    fresh = fresh + 1
  end
end
local function write_gathered()
  each_portion(bodies, 1000, 'HSET', key('body'))
  for level, line in pairs(entries) do each_portion(line, 1000, 'RPUSH', key('ready:' .. level)) end
  bodies, entries = {}, {}
end

local function event_of(kind, id, fragment) return event(kind, id, fragment, 0, 'null', 0, 'null') end

local function take_name(id, name)
  put('unique:of', id, name)
  put('unique', name, id)
end

-- The old job ends; whatever was kept beside it goes with it.
local function give_way(holder, body)
  local _, _, _, fragment = header(body)
  local line = event_of('replaced', holder, fragment or NAMELESS)
  count('replaced')
  keep_history(holder, 'r', line)
  remember(holder, 'r')
  drop('unique:of', holder)
  forget_sides(holder)
  call('HDEL', key('body'), holder)
end

-- Whether a waiting job is in line behind others of an operation that nobody knew.
local function is_parked(id, body)
  if not has('unroutable') then return false end
  local _, _, _, fragment = header(body)
  local operation = string.match(fragment or '', '^"operation":"([%w_.-]+)"')
  local group = operation and unroutable_field(operation, body)
  if not group or not field('unroutable', group) then return false end
  -- Nobody knows whether it is in there; at the end of its own line it is certainly found.
  if wrong_type('unroutable:' .. group, 'list') then return true end
  -- In a long line it is not looked for: then it just goes to the end of its new line.
  return call('LLEN', key('unroutable:' .. group)) > 1000 or call('LPOS', key('unroutable:' .. group), entry_of(id))
end

local function replace_waiting(holder, id, name, envelope, due)
  local zset = (call('ZSCORE', key('scheduled'), holder) and 'scheduled') or (call('ZSCORE', key('retrying'), holder) and 'retrying')
  local old = call('HGET', key('body'), holder)
  local same_line = not zset and num(due) <= now and string.sub(old, 16, 16) == string.sub(envelope, 3, 3)
    and not is_parked(holder, old) and num(field('crashes', holder)) < QUARANTINE_AFTER
    and (field('alias', entry_of(holder)) or holder) == holder
  if same_line then
    local entry = entry_of(holder)
    call('HSET', key('body'), id, (header(old) and string.sub(old, 1, 13) or stamp) .. envelope)
    seen[id] = true
    drop('alias:of', holder)
    put('alias', entry, id)
    put('alias:of', id, entry)
  else
    gather(id, envelope, due)
    write_gathered()
    if zset then call('ZREM', key(zset), holder) else leave_line(holder, old) end
  end
  take_name(id, name)
  give_way(holder, old)
end

local function defer(holder, id, name, envelope, due)
  local old = successor_of(holder)
  call('HSET', key('body'), id, stamp .. envelope)
  seen[id] = true
  put('unique:of', id, name)
  put('successors', holder, whole(num(due)) .. ':' .. id)
  if old then give_way(old, call('HGET', key('body'), old)) end
end

local function stop(holder, session)
  if not field('stops', holder) then put('stops', holder, 'replace') end
  call('PUBLISH', key('wakeups:' .. session), 's')
end

-- Whether a `drop` waits for the end of a holder that runs, where nobody does yet, instead of giving way to it.
local waits = false

local function push_named(id, due, policy, name, envelope)
  write_gathered()
  local holder = call('HGET', key('unique'), name)
  -- A lock whose holder is gone, or does not know of it, is none.
  if holder and (call('HEXISTS', key('body'), holder) == 0 or field('unique:of', holder) ~= name) then holder = nil end
  if not holder then
    gather(id, envelope, due)
    take_name(id, name)
    return 'a'
  end
  local session = field('running', holder)
  -- What was written so far stays: a key of a wrong type must not end the script here. Whether the session still has that claim is
  -- then for the doctor to see; who took the holder for one that waits would end a job that runs.
  local runs = session and (wrong_type('claims:' .. session, 'hash') or call('HEXISTS', claims_key(session), holder) == 1)
  if not runs then session = nil end
  if policy == 'd' or policy == 'D' then
    local waiting_next = session and successor_of(holder)
    if not (session and (waits or field('stops', holder))) or waiting_next then
      local _, _, _, fragment = header(stamp .. envelope)
      event_of('dropped', id, fragment or NAMELESS)
      return 'd:' .. (waiting_next or holder)
    end
    defer(holder, id, name, envelope, due)
    return 'n:' .. holder
  end
  if session then
    defer(holder, id, name, envelope, due)
    stop(holder, session)
    return 'n:' .. holder
  end
  replace_waiting(holder, id, name, envelope, due)
  return 'r:' .. holder
end

-- Takes the jobs, one after the other; adds one text a job to the answer.
local function take_jobs(from, answer)
  local ids = {}
  for i = from, #ARGV, 5 do ids[#ids + 1] = ARGV[i] end
  if #ids == 0 then return end
  local stored = call('HMGET', key('body'), unpack(ids))
  local recent = has('ended') and call('HMGET', key('ended'), unpack(ids)) or {}
  local older = has('ended:old') and call('HMGET', key('ended:old'), unpack(ids)) or {}
  for n, id in ipairs(ids) do
    local i = from + n * 5 - 5
    local verdict
    if stored[n] or seen[id] or recent[n] or older[n] then verdict = 'e'
    elseif ARGV[i + 2] == 'i' then
      gather(id, ARGV[i + 4], ARGV[i + 1])
      verdict = 'a'
    else verdict = push_named(id, ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]) end
    local kind = string.sub(verdict, 1, 1)
    if kind == 'd' then count('dropped') elseif kind ~= 'e' then count('pushed') end
    answer[#answer + 1] = verdict
  end
  write_gathered()
end
-- push: takes jobs into the queue, one after the other.
--
-- KEYS[1]  errand:{queue}
-- ARGV     for each job five values: id, due (ms since 1970; 0 is now), policy (i, d, r; D and R let the name go at the first claim), name ('' without), envelope
-- Answer   first 1 when the queue was not known before (then: SADD errand:queues queue), else 0; then one text a job:
--          a accepted · e exists · d:HOLDER dropped · r:HOLDER replaced · n:HOLDER deferred
--
-- Runs without allow-oom: a push is refused when the server's memory is full.
local COUNT = #ARGV / 5
if COUNT < 1 or COUNT > 1000 or COUNT ~= math.floor(COUNT) then
  return redis.error_reply('ERRAND push takes 1 to 1000 jobs of 5 values each')
end
local refused, waiting = refuse_jobs(1)
if refused then return refused end

local answer = { 0 }
if waiting == 0 and call('HLEN', key('counters')) == 0 then answer[1] = 1 end
take_jobs(1, answer)

-- A session that found nothing has left word that a push may answer its next call: how long a claim of it may take. The only job in
-- line goes to it at once, as if it had made that call just now. It learns of it by the hint; if that is lost, by making the call.
-- Who has no connection, or has not beaten for half a lease, gets nothing: that lease would have to end first. Nor does who does not
-- know its operation.
local LARGEST_DISPATCHED = 16384
local function is_alone(level)
  if special and num(field('settings', 'starts')) == 1 then return false end
  if special or level ~= '5' then
    local others = { key('quarantined'), key('unroutable') }
    for other = 0, 9 do
      if tostring(other) ~= level then others[#others + 1] = key('ready:' .. other) end
    end
    if call('EXISTS', unpack(others)) > 0 then return false end
  end
  return call('LLEN', key('ready:' .. level)) == 1
end

local function dispatch_to(session, lease_ends)
  local id, envelope = ARGV[1], ARGV[5]
  local me, mine, level = session_key(session), claims_key(session), string.sub(envelope, 3, 3)
  local body = stamp .. envelope
  local _, timeout, _, fragment = header(body)
  local operation = string.match(fragment or '', '^"operation":"([%w_.-]+)"')
  local waits = redis.pcall('HMGET', me, 'call', 'open', 'lease', 'secret', 'op:' .. (operation or ''))
  local grace, usual = string.match(not waits.err and waits[5] and waits[2] or '', '^(%d+):(%d+)$')
  -- A lease that lasts longer than it is long tells of a clock that was put back: the claim's deadline would soon be over.
  local left, lease = lease_ends - now, num(waits[3])
  if not grace or 2 * left < lease or left > lease or #envelope > LARGEST_DISPATCHED or not is_alone(level) then return false end
  local runtime = call('HMGET', key('runtime'), 'token', 'quarantine_owner')
  if runtime[2] or entry_of(id) ~= id or type(redis.pcall('HLEN', mine)) == 'table' then return false end

  local token = whole(math.max(clock[1] * 1000000 + clock[2], num(runtime[1]) + 1))
  local deadline = now + (timeout and timeout > 0 and num(grace) + timeout or num(usual))
  local word = 'c' .. (waits[4] or '') .. ' ' .. whole(num(waits[1]) + 1) .. ' ' .. token .. ' ' .. id .. '\n' .. body
  if call('PUBLISH', key('wakeups:' .. session), word) == 0 then return nil end
  call('LPOP', key('ready:' .. level))
  call('HSET', mine, id, claim_text(token, deadline))
  call('HSET', key('runtime'), 'token', token)
  call('HSET', me, 'open', 'h' .. token)
  -- A capital letter: its name is its own until it starts, and free from now on.
  if string.find(ARGV[3], '[DR]') then leave_name(id) elseif ARGV[3] ~= 'i' then put('running', id, session) end
  return true
end
if COUNT == 1 and answer[2] == 'a' and fresh == 1 then dispatch = dispatch_to end

settle()
return answer
