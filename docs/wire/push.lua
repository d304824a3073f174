#!lua
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
-- The time of the call. The usual call of an idle queue does not need it.
local now, clock = read_clock()
local nowtext = whole(now)
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
-- Totals: counted during the script and added at its end.
local totals = {}
local function count(what, times) totals[what] = (totals[what] or 0) + (times or 1) end
local function add_totals()
  for what, n in pairs(totals) do
    local added = redis.pcall('HINCRBY', key('counters'), what, n)
    if type(added) == 'table' and added.err then call('HSET', key('counters'), what, n) end
  end
  totals = {}
end
-- How a claim is written, by exchanges and by pushes that dispatch a job.

-- The hard deadline of a claim that is made now. `margin` is what a claim lasts beyond its job's timeout, `default` what
-- it lasts if the job has none, both in milliseconds.
local function hard_deadline(timeout, margin, default)
  return now + (timeout and timeout > 0 and margin + timeout or default)
end

-- The stored form of a claim: its token, its hard deadline, the time at which it was made unless the token implies it
-- (after the clock was set back, tokens are ahead of it), the job's group if it has one, and what it was charged.
local function claim_text(token, deadline, group, charge)
  local made = math.floor(num(token) / 1000) ~= now and ':' .. nowtext or ''
  if not group and not charge then return token .. ':' .. whole(deadline) .. made end
  return token .. ':' .. whole(deadline) .. (made ~= '' and made or ':') .. ':' .. (group or '') .. (charge or '')
end
-- Wakes sessions that wait for jobs.

-- The number of jobs that this script has made ready.
local fresh = 0

-- Dispatches the only new job to a waiting session, which then need not claim it; set by a script that does so. Returns
-- whether it did, or nil if no connection of the session listens.
local dispatch

-- Wakes as many waiting sessions as there are jobs for them. A paused queue wakes none until it resumes.
local function wake(jobs)
  if jobs == 0 or num(field('settings', 'paused')) == 1 then return end
  while jobs > 0 and call('EXISTS', key('idle')) == 1 do
    local sessions = call('SPOP', key('idle'), math.min(jobs, 100))
    for _, session in ipairs(sessions) do
      local ends = call('ZSCORE', key('sessions'), session)
      local dispatched = false
      if ends and dispatch then dispatched = dispatch(session, num(ends)) end
      if ends and dispatched == false then call(PUBLISH, key('wakeups:' .. session), 'w') end
      if ends and dispatched ~= nil then jobs = jobs - 1 end
    end
  end
end
-- Direct dispatch. A dispatchable session has stored how long a claim of its next call may take. If the pushed job is
-- the only ready one, it goes to that session at once, as if the session had made this call now. The wake-up carries
-- the job; if it is lost, the session gets the job with its call. A session without a connection, or without a
-- heartbeat for half a lease, gets no job this way, because the job would wait until that lease ends. Neither does a
-- session that lacks the operation.
local LARGEST_DISPATCHED = 16384

-- Whether no jobs wait in other lists than the one of this priority.
local function is_only_list(level)
  local others = { key('quarantined'), key('unroutable'), key('backlog') }
  for other = 0, 9 do
    if tostring(other) ~= level then others[#others + 1] = key('ready:' .. other) end
  end
  return call('EXISTS', unpack(others)) == 0
end

-- Dispatches a job to a session, whose lease ends at the given time, if `is_alone` says that no other job is ready. Returns
-- whether it did, or nil if no connection of the session listens.
local function dispatch_job(id, body, level, timeout, operation, session, lease_ends, is_alone)
  local me, mine = session_key(session), claims_key(session)
  local state = redis.pcall('HMGET', me, 'call', 'dispatch', 'lease', 'secret', 'op:' .. (operation or ''))
  local margin, default = string.match(not state.err and state[5] and state[2] or '', '^(%d+):(%d+)$')
  -- If more time is left than the lease is long, the clock was set back, and the claim's deadline would pass too soon.
  local left, lease = lease_ends - now, num(state[3])
  if not margin or 2 * left < lease or left > lease or #body - #stamp > LARGEST_DISPATCHED or not is_alone() then return false end
  local runtime = call('HMGET', key('runtime'), 'token', 'quarantine_owner')
  if runtime[2] or type(redis.pcall('HLEN', mine)) == 'table' then return false end

  local token = whole(math.max(clock[1] * 1000000 + clock[2], num(runtime[1]) + 1))
  local deadline = hard_deadline(timeout, num(margin), num(default))
  local message = 'c' .. (state[4] or '') .. ' ' .. whole(num(state[1]) + 1) .. ' ' .. token .. ' ' .. id .. '\n' .. body
  if call(PUBLISH, key('wakeups:' .. session), message) == 0 then return nil end
  call('LPOP', key('ready:' .. level))
  call('HSET', mine, id, claim_text(token, deadline))
  call('HSET', key('runtime'), 'token', token)
  call('HSET', me, 'dispatch', 'h' .. token)
  return true
end
-- The push of one job without a name, a group or a priority: the most common one of web backends, so it comes before
-- everything that other pushes need. A push that meets anything else, such as a setting, a job that is known, or a wrong
-- type of a key that it uses, goes on with the whole script.
do
  local pcall = redis.pcall
  -- The timeout and the operation of a job.
  local function read_plain(id, due, policy, name, envelope)
    if policy ~= 'i' or due ~= '0' or name ~= '' or #id > 64 or #envelope > 1200000 or not string.find(id, '^%w+$') then return end
    local timeout, from = string.match(envelope, '^1i5;(%d*);%d*;%d+\n()')
    return timeout, timeout and string.match(envelope, '^"operation":"([%w_.-]+)"', from)
  end
  -- Whether all keys that the push uses have their types, and the job is new.
  local function is_new(id)
    for _, name in ipairs({ 'body', 'ended', 'ended:old' }) do
      if pcall('HEXISTS', key(name), id) ~= 0 then return false end
    end
    return type(pcall('HLEN', key('counters'))) == 'number' and type(pcall('HLEN', key('runtime'))) == 'number'
      and type(pcall('SCARD', key('idle'))) == 'number' and type(pcall('ZCARD', key('sessions'))) == 'number'
  end
  local function is_unusual()
    return call('EXISTS', key('settings'), key('alias'), key('tombstones'), key('flow'), key('resting')) > 0
  end
  local function push_plain(id, envelope, timeout, operation)
    local ready, body = key('ready:5'), key('body')
    local waiting = pcall('LLEN', ready)
    if type(waiting) ~= 'number' or not is_new(id) or is_unusual() then return end
    known.settings = false
    local stored, text = call('HLEN', body), stamp .. envelope
    if stored >= MOST_JOBS then return end
    local is_first = stored == 0 and call('HLEN', key('counters')) == 0
    call('HSET', body, id, text)
    call('RPUSH', ready, id)
    count('pushed')
    add_totals()
    if waiting == 0 then
      dispatch = function(session, lease_ends)
        return dispatch_job(id, text, '5', num(timeout), operation, session, lease_ends, function() return is_only_list('5') end)
      end
    end
    wake(1)
    return { is_first and 1 or 0, 'a' }
  end
  if #ARGV == 5 then
    local timeout, operation = read_plain(unpack(ARGV))
    local reply = timeout and push_plain(ARGV[1], ARGV[5], timeout, operation)
    if reply then return reply end
  end
end
-- Parses stored bodies and ids, which may be corrupt.
local NAMELESS = '"operation":null,"name":null'
-- Characters that would break the line of an event. U+007F may appear unescaped in a JSON text.
local CONTROL = '[%z\1-\31]'

local function sound_fragment(text)
  return string.sub(text, 1, 12) == '"operation":' and text or NAMELESS
end

-- An id from a list or set may contain any bytes; in an event it must not break the line.
local function printable(id)
  return (string.gsub(string.sub(id, 1, 64), '[^%w_-]', '?'))
end

-- The header of version 2, which only jobs have that use more than version 1. The stored expiry is a time; that of
-- a blocked job is a plus sign and a duration, which counts from when the job comes free.
local NEWER_HEADER = '^2[idrktDRKB](%d);(%d+);(%d*);(%d*);(%+?%d*);(%d*);([^\n]*)\n()'

-- Whether a text is a group: one or two parts of at most 64 characters.
local function is_group(text)
  local first, second = string.match(text, '^([%w_.:@+-]+)/?([%w_.:@+-]*)$')
  return first ~= nil and #first <= 64 and #second <= 64 and string.sub(text, -1) ~= '/'
end

-- A stored body's priority, timeout, retries, event fragment, expiry, cost and group, nil for each that it lacks; nil if
-- the header is invalid.
local function header(body)
  local expiry, cost, group
  local priority, timeout, retries, length, from =
    string.match(body or '', '^1[idrktDRKB](%d);(%d*);(%d*);(%d+)\n()', 14)
  if not priority then
    priority, length, timeout, retries, expiry, cost, group, from =
      string.match(body or '', NEWER_HEADER, 14)
    if not priority then return nil end
  end
  if not string.find(body, '^%d%d%d%d%d%d%d%d%d%d%d%d%d') then return nil end
  local fragment = string.sub(body, from, from + num(length) - 1)
  if #fragment > 8192 or string.find(fragment, CONTROL) or not string.find(fragment, '^"operation":') then fragment = NAMELESS end
  if not expiry then return priority, num(timeout), retries ~= '' and num(retries) or nil, fragment end
  return priority, num(timeout), retries ~= '' and num(retries) or nil, fragment, tonumber(string.match(expiry, '^%d+$')),
    cost ~= '' and math.max(1, math.min(num(cost), 1000000)) or 1, is_group(group) and group or nil
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
-- The ids of jobs that have ended, which are remembered so that a push that is repeated adds no job.
local IDS_KEPT = 500000
local ended = {}

local function remember_all(ids, first, how)
  local n = #ended
  for i = first, #ids do
    ended[n + 1], ended[n + 2] = ids[i], how
    n = n + 2
  end
end
local function remember(id, how) remember_all({ id }, 1, how) end

local function flush_ended()
  if #ended == 0 then return end
  local window = setting('remember_ms', 60000)
  local since = num(call('HGET', key('runtime'), 'ended_at'))
  -- If the clock was set back, no id is forgotten: the window starts again.
  if since > now then
    since = now
    call('HSET', key('runtime'), 'ended_at', nowtext)
  end
  if since == 0 or now - since >= window or call('HLEN', key('ended')) >= IDS_KEPT then
    if since > 0 and call('EXISTS', key('ended')) == 1 then
      -- Half a million ids take a tenth of a second to free, so the server frees them in the background, unless the
      -- user may not call UNLINK.
      redis.pcall('UNLINK', key('ended:old'))
      call('RENAME', key('ended'), key('ended:old'))
    end
    call('HSET', key('runtime'), 'ended_at', nowtext)
  end
  each_portion(ended, 1000, 'HSET', key('ended'))
  call('PEXPIRE', key('ended'), whole(2 * window))
  ended = {}
end
-- The types of the queue's keys.
local TYPES = {
  body = 'hash', runtime = 'hash', counters = 'hash', ended = 'hash', sessions = 'zset', idle = 'set', settings = 'hash', ['ready:5'] = 'list',
}
-- Keys that a queue of plain jobs lacks, those of groups and workflows, and keys that it has at times: one command checks
-- each part.
local SELDOM = {
  unique = 'hash', ['unique:of'] = 'hash', running = 'hash', successors = 'hash', stops = 'hash', failures = 'hash', crashes = 'hash',
  solo_crashes = 'hash', errors = 'hash', progress = 'hash', checkpoints = 'hash', alias = 'hash', ['alias:of'] = 'hash',
  tombstones = 'hash', unroutable = 'hash', debounced = 'hash', throttled = 'hash', ['throttled:ends'] = 'zset',
  quarantined = 'list', ['ready:0'] = 'list', ['ready:1'] = 'list', ['ready:2'] = 'list', ['ready:3'] = 'list',
  ['ready:4'] = 'list', ['ready:6'] = 'list', ['ready:7'] = 'list', ['ready:8'] = 'list', ['ready:9'] = 'list',
}
local COMBINED = {
  flow = 'hash', backlog = 'zset', held_back = 'hash', blocked = 'hash', tat = 'zset', resting = 'zset', waiting = 'hash',
  ['workflow:of'] = 'hash', ['workflow:work'] = 'list', ['workflow:hops'] = 'list', ['workflow:names'] = 'hash',
  ['blocked:released'] = 'list', ['blocked:jobs'] = 'hash', ['blocked:order'] = 'zset', workflows = 'zset',
  ['workflows:unsealed'] = 'zset', ['workflows:ended'] = 'zset',
}
local AT_TIMES = {
  history = 'hash', ['history:order'] = 'list', ['ended:old'] = 'hash', scheduled = 'zset', retrying = 'zset', dead = 'zset',
  stream = 'stream', cursors = 'hash',
}
-- The functions of workflows, with what a call has changed: the workflows, those of which nothing starts any more, the ends
-- that were noted, how many jobs are ready because others ended, and whether it leaves something to later calls.
local workflows = { changed = {}, stopped = {}, noted = {}, freed = 0, is_busy = false }
-- The keys of a workflow, each with its token behind a colon.
workflows.PARTS = { 'workflow', 'members', 'numbers', 'keys', 'jobs', 'ends', 'outputs', 'needs', 'dependants', 'open', 'dead', 'hops' }

-- The type of a key, if it exists and has another type than expected.
local function wrong_type(name, expected)
  local found = call('TYPE', key(name)).ok
  if found == 'none' then return nil end
  if found ~= expected then return found end
  known[name] = true
end

-- A call to a key that few scripts check. One of a wrong type counts as missing; the doctor reports it.
local function try(...)
  local reply = redis.pcall(...)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if string.find(reply.err, '^WRONGTYPE') then return nil end
  error(reply)
end

local function wrong_type_error(name, expected, found)
  return redis.error_reply('WRONGTYPE the key ' .. key(name) .. ' is a ' .. found .. ' and must be a ' .. expected)
end

-- The error for the first of these keys with a wrong type. The length of a key says so, too, and its reply costs less than
-- that of TYPE.
local LENGTHS = { hash = 'HLEN', zset = 'ZCARD', list = 'LLEN', set = 'SCARD' }
local function type_error(types)
  for name, expected in pairs(types) do
    local length = LENGTHS[expected] and redis.pcall(LENGTHS[expected], key(name))
    local is_sound = type(length) == 'number'
    local found = not is_sound and wrong_type(name, expected)
    if found then return wrong_type_error(name, expected, found) end
    if is_sound and length > 0 then known[name] = true end
  end
end

-- Whether any key of these tables exists.
local function any_exists(...)
  local keys, count, start = {}, 0, Q .. ':'
  for _, types in ipairs({ ... }) do
    for name in pairs(types) do
      count = count + 1
      keys[count] = start .. name
    end
  end
  return call('EXISTS', unpack(keys)) > 0
end

-- The error for a session's keys, or for the lists of unroutable jobs.
local function session_type_error(session)
  return type_error({ ['session:' .. session] = 'hash', ['claims:' .. session] = 'hash' })
end
-- If there are very many, which are invented operations, each script checks a list before it uses it.
local function unroutable_type_error()
  if call('HLEN', key('unroutable')) > 100 then return end
  local types = {}
  for _, operation in ipairs(call('HKEYS', key('unroutable'))) do types['unroutable:' .. operation] = 'list' end
  return type_error(types)
end
return (function()
-- Redis does not roll back, so the script ends here, before its first write, if a key has the wrong type.
local has_seldom, is_combined = false, false
do
  local wrong = type_error(TYPES)
  if not wrong and any_exists(SELDOM, COMBINED, AT_TIMES) then
    has_seldom, is_combined = any_exists(SELDOM), any_exists(COMBINED)
    wrong = (has_seldom and (type_error(SELDOM) or unroutable_type_error())) or (is_combined and type_error(COMBINED)) or type_error(AT_TIMES)
  end
  if wrong then return wrong end
end
local special = has_seldom or is_combined
-- The rules for the groups of a queue, and for the queue as a whole: which one applies, and what it says.
local rules = {}
local function parts_of(group)
  local first, second = string.match(group, '^([^/]+)/(.+)$')
  return first or group, second
end
-- The whole queue, as a group and as a pattern.
local WHOLE_QUEUE = ''
local NO_RULE = { text = '', burst = 1, is_ordered = false, skips_dead = false, by_time = false }
-- A rule has: pattern; at_once; weight; interval (µs between two starts) and burst, if it has a rate; is_ordered and
-- skips_dead; by_time; max_waiting. The jobs of an ordered group run one at a time.
local function rule_of(group) return has('flow') and rules.of(group) or NO_RULE end
on_use(rules, function()
  -- Whether a part of a group's name matches that of a pattern, in which * stands for any characters.
  local function matches(pattern, text)
    local literals = {}
    for literal in string.gmatch(pattern .. '*', '([^*]*)%*') do literals[#literals + 1] = literal end
    local last = literals[#literals]
    if #literals == 1 then return pattern == text end
    if string.sub(text, 1, #literals[1]) ~= literals[1] then return false end
    local at = #literals[1] + 1
    for i = 2, #literals - 1 do
      local _, ends = string.find(text, literals[i], at, true)
      if not ends then return false end
      at = ends + 1
    end
    return #text - #last + 1 >= at and string.sub(text, #text - #last + 1) == last
  end

  -- The rule whose pattern has the longest literal prefix applies. A pattern without * is longer than any with one.
  local by_prefix, rule_by_group = nil, {}
  local function load_rules()
    by_prefix = { {}, {} }
    local flat = call('HGETALL', key('flow'))
    for i = 1, #flat, 2 do
      local star = string.find(flat[i], '*', 1, true)
      local prefix = star and string.sub(flat[i], 1, star - 1) or flat[i] .. '*'
      local of_parts = by_prefix[string.find(flat[i], '/', 1, true) and 2 or 1]
      of_parts[prefix] = { pattern = flat[i], text = flat[i + 1] }
    end
  end
  local function applies(rule, group)
    local first, second = parts_of(group)
    local first_pattern, second_pattern = parts_of(rule.pattern)
    return matches(first_pattern, first) and (not second or matches(second_pattern, second))
  end
  -- No two patterns with as many parts have the same prefix, so that few have to be looked at.
  local function find_rule(group)
    local of_parts = by_prefix[string.find(group, '/', 1, true) and 2 or 1]
    if of_parts[group .. '*'] then return of_parts[group .. '*'] end
    for length = #group, group == WHOLE_QUEUE and 1 or 0, -1 do
      local rule = of_parts[string.sub(group, 1, length)]
      if rule and applies(rule, group) then return rule end
    end
    return { text = '' }
  end
  local function number(text, word) return tonumber(string.match(text, '%f[%w_]' .. word .. '=(%d+)') or '') end
  function rules.of(group)
    if not by_prefix then load_rules() end
    local rule = rule_by_group[group]
    if rule then return rule end
    rule = find_rule(group)
    rule.at_once, rule.weight = number(rule.text, 'at_once'), number(rule.text, 'weight')
    local starts, window = string.match(rule.text, '%f[%w_]rate=(%d+)/(%d+)')
    if num(starts) > 0 then rule.interval = math.max(1, math.ceil(1000 * num(window) / num(starts))) end
    rule.burst = math.max(1, number(rule.text, 'burst') or 1)
    rule.is_ordered, rule.skips_dead = number(rule.text, 'ordered') == 1, number(rule.text, 'skip_dead') == 1
    if rule.is_ordered then rule.at_once = 1 end
    rule.max_waiting = number(rule.text, 'max_waiting')
    rule.by_time = number(rule.text, 'by_time') == 1
    rule_by_group[group] = rule
    return rule
  end
  function rules.forget() by_prefix, rule_by_group = nil, {} end
end)
-- Rates and rests of groups, by the generic cell rate algorithm (GCRA): a group has a theoretical arrival time, which each
-- start moves by the interval between two starts, and it may be ahead of the clock by that of a burst. `tat` has those
-- times in µs; as `=GROUP` the ms of the latest start that found the group less than an interval ahead; and as `!GROUP` the
-- µs until which a handler lets the group rest. `resting` has the groups that are held back until a time (ms).
local rates = { begins_earlier = false, has_started = false }
on_use(rates, function()
  -- Times in µs are beyond this, times in ms below it.
  local MICROSECONDS = '100000000000000'
  -- Ten years in ms: no rest and no burst matters for longer.
  local LONGEST = 315360000000
  local times = {}
  local function time_of(member)
    if not times[member] then times[member] = tonumber(has('tat') and try('ZSCORE', key('tat'), member) or 0) or 0 end
    return times[member]
  end
  local function set_time(member, time)
    times[member] = time
    try('ZADD', key('tat'), whole(time), member)
    known.tat = true
  end

  -- The time (ms) until which a group may not start jobs, and whether its rate is the reason; 0 if it may.
  function rates.rests_until(group)
    if not has('tat') then return 0, false end
    local rule = rule_of(group)
    local by_rate = rule.interval and time_of(group) - (rule.burst - 1) * rule.interval or 0
    local rest = time_of('!' .. group)
    local ends = math.ceil(math.max(by_rate, rest) / 1000)
    return ends > now and ends or 0, by_rate > rest
  end
  -- How many jobs of a group with a rate may start now.
  function rates.free(group)
    local rule = rule_of(group)
    if rates.rests_until(group) > 0 then return 0 end
    if not rule.interval then return 1000 end
    return math.max(1, rule.burst - math.ceil(math.max(time_of(group) - now * 1000, 0) / rule.interval))
  end
  function rates.start(group, count)
    local rule = rule_of(group)
    if not rule.interval then return end
    local time = time_of(group)
    if time - rule.interval < now * 1000 then set_time('=' .. group, now) end
    set_time(group, math.max(time, now * 1000) + count * rule.interval)
    rates.has_started = true
  end
  -- Takes back a start at a time (ms). Only while the group has been busy since then is it certain that its later starts
  -- did not use that one's time.
  function rates.refund(group, at)
    local rule = rule_of(group)
    if not rule.interval or time_of(group) <= now * 1000 or at < time_of('=' .. group) then return end
    set_time(group, time_of(group) - rule.interval)
  end
  function rates.rest(group, ends)
    set_time('!' .. group, math.max(time_of('!' .. group), ends * 1000))
    rates.note(group, ends)
    rates.has_started = true
  end

  -- No rule lets a group be further ahead of the clock than by its burst: the rule was another one before, or the clock
  -- was set back.
  function rates.limit(group)
    local rule = rule_of(group)
    local most = rule.interval and has('tat') and now * 1000 + rule.burst * rule.interval
    if most and time_of(group) > most then set_time(group, most) end
  end
  -- Notes that a group is held back until a time. The session that makes the first of these times earlier looks then.
  function rates.note(group, ends)
    local first = try('ZRANGE', key('resting'), 0, 0, 'WITHSCORES') or {}
    if not first[2] or num(first[2]) > ends then rates.begins_earlier = true end
    try('ZADD', key('resting'), whole(ends), group)
    known.resting = true
  end
  -- The groups whose rest is over, at most so many; they are no longer noted.
  function rates.rested(most)
    local over = has('resting') and try('ZRANGEBYSCORE', key('resting'), '-inf', nowtext, 'LIMIT', 0, most) or {}
    if #over > 0 then call('ZREM', key('resting'), unpack(over)) end
    return over
  end
  -- Forgets times that have passed, some a call; the key expires with the last one.
  function rates.forget()
    local passed = try('ZRANGEBYSCORE', key('tat'), MICROSECONDS, whole(now * 1000), 'LIMIT', 0, 1000) or {}
    local members = {}
    for _, group in ipairs(passed) do
      members[#members + 1] = group
      members[#members + 1] = '=' .. group
    end
    each_portion(members, 1000, 'ZREM', key('tat'))
    local last = try('ZREVRANGE', key('tat'), 0, 0, 'WITHSCORES') or {}
    local left = math.ceil((tonumber(last[2] or 0) or 0) / 1000) - now
    if last[2] then call('PEXPIRE', key('tat'), whole(math.max(1, math.min(left, LONGEST)))) end
  end
end)
-- Groups of jobs: their lists, their virtual times, and the slots that their claims take.
--
-- A job with a group waits in `group:LEVEL:GROUP`. `groups:LEVEL` has the first parts of the groups that may run by
-- virtual time, and `groups:LEVEL:FIRST` the second parts of one of them. A group that is full or rests is in `held_back`
-- instead, with the levels at which it waits. `left:…` has the virtual times of groups that have left `groups:…`, and as
-- `*` the present virtual time.
local groups = {}
-- The name of the list in which a ready job waits. An ordered group ignores priorities.
local function list_with(priority, group)
  if not group then return 'ready:' .. (priority or '5') end
  return 'group:' .. (rule_of(group).is_ordered and '5' or priority) .. ':' .. group
end
local function list_of(body)
  local priority, _, _, _, _, _, group = header(body)
  return list_with(priority, group)
end
-- The lists in which a job may wait: it stays where it is when a rule makes its group ordered, or no longer does.
local function lists_of(body)
  local priority, _, _, _, _, _, group = header(body)
  if not group then return { list_of(body) } end
  local lists = { list_of(body) }
  for _, level in ipairs({ '5', priority }) do
    local other = 'group:' .. level .. ':' .. group
    if other ~= lists[1] and other ~= lists[2] then lists[#lists + 1] = other end
  end
  return lists
end
local function parse_list(name) return string.match(name, '^group:(%d):(.+)$') end

-- How long the virtual times of groups are kept when no job of their level is claimed.
local SHARES_MS = 60000
-- The nodes that a claim has in memory: a group that enters one of them must not be removed at the end.
local open_nodes = {}

-- Scripts call the following functions for plain jobs as well.

-- Notes that jobs were added to a list, which has this length now. Returns how many sessions to wake for them: none if
-- the group is full.
local function note_added(name, length, added) return parse_list(name) and groups.note_added(name, length, added) or added end
local function take_slot(group, id) if has('flow') then groups.take_slot(group, id) end end
-- Frees the slots of a claim that ends, whatever ends it. This comes before the job's next state. If the claim is
-- released, its start does not count.
local function free_slot(id, text, is_released) if has('flow') then groups.free_slot(id, text, is_released) end end
-- Whether a group may not run now, because it is full, rests, or waits for another job than this one.
local function must_wait(group, id) return (has('flow') or has('tat')) and groups.must_wait(group, id) end

on_use(groups, function()
  -- The groups whose slots a job takes: the first part of its group, and the group itself.
  function groups.limited(group)
    local first = parts_of(group)
    return first == group and { first } or { first, group }
  end
  function groups.of_claim(text) return string.match(text, '^%d+:%d+:%d*:(%S+)') end
  -- When a claim was made (ms), which its token implies unless the claim says otherwise.
  local function made_at(text)
    local token, made = string.match(text, '^(%d+):%d+:(%d*)')
    return num(made) > 0 and num(made) or math.floor(num(token or string.match(text, '^(%d+)')) / 1000)
  end

  -- Slots: the ids of the claimed jobs of a group whose claims are limited. A job with two parts may take one of each.
  local held = {}
  local function slots_of(group)
    if not held[group] then held[group] = try('SCARD', key('held:' .. group)) or 0 end
    return held[group]
  end
  local function change_slot(command, group, id, by)
    local changed = try(command, key('held:' .. group), id) or 0
    if held[group] then held[group] = held[group] + by * changed end
  end
  function groups.is_full(group)
    local most = rule_of(group).at_once
    return most ~= nil and slots_of(group) >= most
  end
  -- Whether an ordered group waits for a job that has started and not ended, other than this one: `blocked` has its id.
  function groups.is_blocked(group, id)
    local rule = rule_of(group)
    local by = rule.is_ordered and field('blocked', group)
    return by and by ~= id and not (rule.skips_dead and call('ZSCORE', key('dead'), by))
  end
  function groups.must_wait(group, id)
    return groups.is_full(group) or groups.is_blocked(group, id) or rates.rests_until(group) > 0
  end
  function groups.take_slot(group, id)
    if rule_of(group).is_ordered then set_field('blocked', group, id) end
    for _, part in ipairs(groups.limited(group)) do
      if rule_of(part).at_once then change_slot('SADD', part, id, 1) end
      rates.start(part, 1)
    end
  end

  -- Notes until when a group rests. Returns whether it does.
  function groups.note_rest(group)
    rates.limit(group)
    local ends = rates.rests_until(group)
    if ends > 0 then rates.note(group, ends) end
    return ends > 0
  end
  function groups.hold_back(group, level)
    local levels = has('held_back') and call('HGET', key('held_back'), group) or ''
    if not string.find(levels, level, 1, true) then set_field('held_back', group, levels .. level) end
    groups.note_rest(group)
  end
  local function forget_held_back(group, level)
    local levels = has('held_back') and call('HGET', key('held_back'), group)
    if not levels then return end
    levels = string.gsub(levels, level, '')
    if levels == '' then call('HDEL', key('held_back'), group) else call('HSET', key('held_back'), group, levels) end
  end

  -- Enters a group, or one of its parts, among those that may run. It starts no earlier than the present virtual time,
  -- so that no group makes up for its absence. Returns whether it may run.
  local function enter_node(node, child, group, level)
    if must_wait(group) then
      groups.hold_back(group, level)
      return false
    end
    local lowest = try('ZRANGE', key('groups:' .. node), 0, 0, 'WITHSCORES') or {}
    local present = tonumber(try('ZSCORE', key('left:' .. node), '*') or lowest[2] or 0)
    local own = tonumber(try('ZSCORE', key('left:' .. node), child) or 0)
    try('ZADD', key('groups:' .. node), 'NX', whole(math.max(present, own)), child)
    if open_nodes[node] then open_nodes[node].gone[child] = nil end
    return true
  end
  local function enter(level, group)
    local first, second = parts_of(group)
    if second and not enter_node(level .. ':' .. first, second, group, level) then return end
    enter_node(level, first, first, level)
  end
  local function leave(node, child)
    local time = try('ZSCORE', key('groups:' .. node), child)
    if not time then return end
    try('ZREM', key('groups:' .. node), child)
    try('ZADD', key('left:' .. node), time, child)
    call('PEXPIRE', key('left:' .. node), whole(SHARES_MS))
  end
  function groups.waits(level, group)
    if (try('LLEN', key('group:' .. level .. ':' .. group)) or 0) > 0 then return true end
    return (try('ZCARD', key('groups:' .. level .. ':' .. group)) or 0) > 0
  end

  -- A group that is no longer full, and does not rest, may run again at the levels where it waits.
  function groups.return_held_back(group)
    local levels = has('held_back') and not groups.is_full(group) and not groups.is_blocked(group) and call('HGET', key('held_back'), group)
    if not levels or groups.note_rest(group) then return false end
    call('HDEL', key('held_back'), group)
    local most = rule_of(group).at_once
    for level in string.gmatch(levels, '%d') do
      if groups.waits(level, group) then
        enter(level, group)
        fresh = fresh + math.min(most and most - slots_of(group) or 1000, rates.free(group))
      end
    end
    return true
  end
  -- Lets an ordered group go on that waits for this job, because the job has ended or is about to be its head again.
  -- Returns whether it waited for the job.
  function groups.unblock(id, body)
    if not has('blocked') then return false end
    local _, _, _, _, _, _, group = header(body or call('HGET', key('body'), id))
    if not group or call('HGET', key('blocked'), group) ~= id then return false end
    call('HDEL', key('blocked'), group)
    groups.return_held_back(group)
    return true
  end
  -- Lets groups run again whose rest is over, at most so many. Returns how many.
  function groups.return_rested(most)
    local rested = rates.rested(most)
    for _, group in ipairs(rested) do
      if group == WHOLE_QUEUE then fresh = fresh + rates.free(group) else groups.return_held_back(group) end
    end
    if #rested > 0 and has('quarantined') then fresh = fresh + 1 end
    return #rested
  end

  -- After a change of a rule: looks at some of the groups that are held back. The next calls look at the others.
  function groups.reconsider(cursor)
    rules.forget()
    if not has('held_back') then cursor = '0' else
      local page = call('HSCAN', key('held_back'), cursor, 'COUNT', 500)
      for i = 1, #page[2], 2 do groups.return_held_back(page[2][i]) end
      cursor = page[1]
    end
    if has('quarantined') then fresh = fresh + 1 end
    if call('HDEL', key('runtime'), 'held_back') == 1 then fresh = fresh + 1000 end
    if cursor ~= '0' then call('HSET', key('runtime'), 'reconsider', cursor) else call('HDEL', key('runtime'), 'reconsider') end
    return cursor ~= '0'
  end

  -- The whole queue has no set of slots: the claims are counted. A call that found it full has noted that.
  local is_queue_held_back
  local function free_slot_of_queue(text, is_released)
    if is_released then rates.refund(WHOLE_QUEUE, made_at(text)) end
    if is_queue_held_back == nil then is_queue_held_back = call('HDEL', key('runtime'), 'held_back') == 1 end
    if is_queue_held_back then fresh = fresh + 1 end
  end
  function groups.count_claims()
    local count = 0
    for _, session in ipairs(call('ZRANGE', key('sessions'), 0, -1)) do count = count + (try('HLEN', claims_key(session)) or 0) end
    return count
  end

  local last_text, group
  function groups.free_slot(id, text, is_released)
    free_slot_of_queue(text, is_released)
    if text ~= last_text then last_text, group = text, groups.of_claim(text) end
    if not group then return end
    for _, part in ipairs(groups.limited(group)) do
      if rule_of(part).at_once then change_slot('SREM', part, id, -1) end
      if is_released then rates.refund(part, made_at(text)) end
      groups.return_held_back(part)
    end
    if has('quarantined') then fresh = fresh + 1 end
  end

  -- `waiting` has the number of entries in the lists of all second parts of a first part.
  function groups.count_second_parts(group, by)
    local first, second = parts_of(group)
    if not second then return end
    local count = num(try('HGET', key('waiting'), first)) + by
    if count > 0 then try('HSET', key('waiting'), first, count) else try('HDEL', key('waiting'), first) end
  end
  -- The number of entries in the lists of a group, and of its second parts if it is a first part.
  function groups.count_waiting(group)
    local count = math.max(0, num(try('HGET', key('waiting'), group)))
    for level = 0, 9 do count = count + (try('LLEN', key('group:' .. level .. ':' .. group)) or 0) end
    return count
  end

  function groups.note_added(name, length, added)
    local level, group = parse_list(name)
    groups.count_second_parts(group, added)
    if length == added then return groups.note_list(level, group, length) end
    call('ZADD', key('backlog'), length, level .. ':' .. group)
    known.backlog = true
    return (must_wait(group) or must_wait((parts_of(group)))) and 0 or added
  end
  -- Notes a list whose group may run from now on. Returns how many sessions to wake for it.
  function groups.note_list(level, group, length)
    call('ZADD', key('backlog'), length, level .. ':' .. group)
    known.backlog = true
    enter(level, group)
    return (must_wait(group) or must_wait((parts_of(group)))) and 0 or length
  end
  -- Notes that a number of entries was removed from a list otherwise than by a claim.
  function groups.note_removed(name, count)
    local level, group = parse_list(name)
    if not group then return end
    groups.count_second_parts(group, -count)
    local length = try('LLEN', key(name)) or 0
    if length > 0 then return call('ZADD', key('backlog'), length, level .. ':' .. group) end
    call('ZREM', key('backlog'), level .. ':' .. group)
    local first, second = parts_of(group)
    if second then
      leave(level .. ':' .. first, second)
      forget_held_back(group, level)
    end
    if groups.waits(level, first) then return end
    leave(level, first)
    forget_held_back(first, level)
  end
end)
-- The lists of ready, quarantined and unroutable jobs: how a job enters and leaves them.
local QUARANTINE_AFTER = 3
-- The bytes of bodies that the script may still read: a call handles fewer jobs if they are large.
local room = 8388608

-- The entry of a job in a ready list: its own id, or that of the job that it replaced there.
local function entry_of(id) return field('alias:of', id) or id end

-- The entry of a job that is added. It is the id, or an alias while that text has another meaning: the position of a
-- job that has replaced an older one of this id, or a tombstone of an older one.
local function is_taken(entry) return field('alias', entry) or field('tombstones', entry) end
local function entry_for(id)
  if known.alias == false and known.tombstones == false or not is_taken(id) then return id end
  local entry, at = id .. ':' .. nowtext, now
  while is_taken(entry) do
    at = at + 1
    entry = id .. ':' .. whole(at)
  end
  set_field('alias', entry, id)
  set_field('alias:of', id, entry)
  return entry
end

local moves = {}
on_use(moves, function()
  -- Adds a job to its ready list with LPUSH or RPUSH, and wakes a session for it unless its group is full. A job for which
  -- its ordered group waits comes first. If the list of its group has a wrong type, the job waits among those without a
  -- group.
  function moves.add_to_list(command, id, body)
    local name = list_of(body)
    if has('blocked') and groups.unblock(id, body) then command = 'LPUSH' end
    local length = try(command, key(name), entry_for(id))
    if length then
      fresh = fresh + note_added(name, length, 1)
    else
      call(command, key('ready:' .. (header(body) or '5')), entry_of(id))
      fresh = fresh + 1
    end
  end

  function moves.add_ready(command, id, body)
    if num(field('crashes', id)) < QUARANTINE_AFTER then return moves.add_to_list(command, id, body) end
    call('RPUSH', key('quarantined'), entry_for(id))
    fresh = fresh + 1
  end

  -- Appends a job to its ready list, or schedules it. The ready-since stamp in front of the body is renewed.
  function moves.enqueue(id, body, due)
    local priority = header(body)
    if due > now then
      call('ZADD', key('scheduled'), whole(due), id)
      known.scheduled = true
    else
      if priority then call('HSET', key('body'), id, stamp .. string.sub(body, 14)) end
      moves.add_ready('RPUSH', id, body)
    end
  end

  -- Returns a job to the head of its ready list, where it was.
  function moves.requeue(id, body)
    moves.add_ready('LPUSH', id, body)
    delete_field('running', id)
  end

  -- Removes a job from its ready list: directly from a short list, else by a tombstone that a claim skips.
  function moves.remove_from_ready(id, body)
    local entry = entry_of(id)
    delete_field('alias', entry)
    delete_field('alias:of', id)
    local _, _, _, fragment = header(body)
    local waiting = lists_of(body)
    local lists = {}
    for i, name in ipairs(waiting) do lists[i] = key(name) end
    if has('quarantined') then lists[#lists + 1] = key('quarantined') end
    local operation = fragment and has('unroutable') and string.match(fragment, '^"operation":"([%w_.-]+)"')
    local group = operation and unroutable_field(operation, body)
    if group and not wrong_type('unroutable:' .. group, 'list') then lists[#lists + 1] = key('unroutable:' .. group) end
    for n, list_key in ipairs(lists) do
      if (try('LLEN', list_key) or 0) <= 1000 and try('LREM', list_key, 1, entry) == 1 then
        if waiting[n] and parse_list(waiting[n]) then groups.note_removed(waiting[n], 1) end
        if not waiting[n] and group and list_key == key('unroutable:' .. group) then
          local left = call('LLEN', list_key)
          if left > 0 then set_field('unroutable', group, left) else delete_field('unroutable', group) end
        end
        return
      end
    end
    set_field('tombstones', entry, num(field('tombstones', entry)) + 1)
  end
end)
-- Unique names, and the successors that wait for their holders. A push takes a name in lib_push.lua. The hash `unique` has
-- the id of the job that holds each name.

-- Makes a successor ready, or schedules it, and renews its stamp. It goes to the head of its ready list if the holder
-- was there or would have returned there. The head of an ordered group belongs to the job for which the group waits, so
-- only that job's successor takes it.
local function activate_successor(id, body, due, at_head, holder)
  if due > now or not at_head then return moves.enqueue(id, body, due) end
  local priority, _, _, _, _, _, group = header(body)
  if group and rule_of(group).is_ordered and field('blocked', group) ~= holder then return moves.enqueue(id, body, due) end
  if priority then call('HSET', key('body'), id, stamp .. string.sub(body, 14)) end
  moves.requeue(id, body)
end

-- Frees the name of a job, or passes it to the successor, which then becomes ready or scheduled.
local function free_name(id, at_head)
  local name, successor_entry = field('unique:of', id), field('successors', id)
  -- Without a name there is neither a holder nor a successor, unless a key was lost.
  if not (name or successor_entry) then return delete_field('running', id) end
  local due, successor = string.match(successor_entry or '', '^(%d+):(.+)$')
  local body = successor and call('HGET', key('body'), successor)
  if body then
    if name then call('HSET', key('unique'), name, successor) end
    activate_successor(successor, body, num(due), at_head, id)
  elseif name and call('HGET', key('unique'), name) == id then
    call('HDEL', key('unique'), name)
  end
  delete_field('successors', id)
  delete_field('running', id)
  delete_field('unique:of', id)
  delete_field('debounced', id)
end

local function successor_of(id)
  local successor_entry = field('successors', id)
  return successor_entry and string.match(successor_entry, '^%d+:(.+)$')
end

-- Detaches a successor from its holder, and withdraws its request to stop if the holder has not received it yet.
local function detach_successor(holder)
  delete_field('successors', holder)
  if field('stops', holder) == 'replace' then delete_field('stops', holder) end
end
-- The records of ended jobs: for a day their last events, errors and results.
local HISTORY_KEPT, HISTORY_BYTES, HISTORY_MS = 10000, 67108864, 86400000
local ERRORS_KEPT, ERRORS_BYTES = 10, 16384
local kept, order, records = 0, {}, {}

local history = {}
on_use(history, function()
  -- The errors of a job's runs: their events, newest first, separated by tabs, which no event contains.
  function history.keep_error(id, line)
    local kept_lines, size = { line }, #line
    for earlier in string.gmatch(field('errors', id) or '', '[^\t]+') do
      size = size + 1 + #earlier
      if #kept_lines == ERRORS_KEPT or size > ERRORS_BYTES then break end
      kept_lines[#kept_lines + 1] = earlier
    end
    set_field('errors', id, table.concat(kept_lines, '\t'))
  end

  -- A record consists of the letter of the ending, the last event, the events of its errors, and, after a line feed, the
  -- result.
  function history.keep(id, how, line, result)
    local errors = field('errors', id)
    local record = how .. line .. (errors and '\t' .. errors or '') .. '\n' .. (result or '')
    kept = kept + #record - #(records[id] or '')
    records[id] = record
    order[#order + 1] = nowtext .. ':' .. id
  end

  -- Writes the gathered records in portions. Those that they take the place of no longer count.
  local function write_records()
    local ids, pairs_of = {}, {}
    for id, record in pairs(records) do
      local n = #pairs_of
      ids[#ids + 1], pairs_of[n + 1], pairs_of[n + 2] = id, id, record
    end
    for from = 1, #ids, 1000 do
      for _, former in ipairs(call('HMGET', key('history'), unpack(ids, from, math.min(from + 999, #ids)))) do
        kept = kept - #(former or '')
      end
    end
    each_portion(pairs_of, 1000, 'HSET', key('history'))
    records = {}
  end

  -- The history also expires if no job ends any more.
  function history.expire()
    for _, name in ipairs({ 'history', 'history:order' }) do
      call('PEXPIRE', key(name), whole(setting('keep_ms', HISTORY_MS)))
    end
  end

  -- Whether the last event of a record is of this time, which an entry of the order has. Otherwise the record was deleted, or
  -- is a newer one of the same id, which has its own entry. Errors of earlier runs follow the event behind a tab.
  local function is_current(record, at)
    local found = record and string.find(record, '"at_ms":' .. at .. ',', 1, true)
    local tab = found and string.find(record, '\t', 1, true)
    return found and (not tab or tab > found)
  end

  -- Removes the first entries of the order, with their records, and returns the bytes of these.
  local function drop_oldest(list, count)
    local ids, times, dropped, is_dropped, size = {}, {}, {}, {}, 0
    for n, entry in ipairs(call('LPOP', list, count)) do
      times[n], ids[n] = string.match(entry, '^(%d+):(.*)$')
      ids[n] = ids[n] or ''
    end
    for n, record in ipairs(call('HMGET', key('history'), unpack(ids))) do
      if times[n] and is_current(record, times[n]) and not is_dropped[ids[n]] then
        size = size + #record
        dropped[#dropped + 1], is_dropped[ids[n]] = ids[n], true
      end
    end
    each_portion(dropped, 1000, 'HDEL', key('history'))
    return size
  end

  function history.trim()
    write_records()
    local list, oldest = key('history:order'), now - setting('keep_ms', HISTORY_MS)
    -- If the history had expired, its stored size no longer counts.
    local stored = kept + (call('EXISTS', list) == 1 and num(call('HGET', key('runtime'), 'history_bytes')) or 0)
    each_portion(order, 1000, 'RPUSH', list)
    local budget = #order + 100
    while budget > 0 do
      local excess = math.min(call('LLEN', list) - HISTORY_KEPT, budget, 100)
      local head = call('LINDEX', list, 0)
      if not head then
        -- This also corrects a wrong size.
        stored = 0
        break
      end
      local at, id = string.match(head, '^(%d+):(.*)$')
      local fits = stored <= HISTORY_BYTES and excess <= 0
      if fits and id and num(at) > oldest and is_current(call('HGET', key('history'), id), at) then break end
      excess = math.max(excess, 1)
      stored = stored - drop_oldest(list, excess)
      budget = budget - excess
    end
    call('HSET', key('runtime'), 'history_bytes', whole(math.max(stored, 0)))
    history.expire()
    kept, order = 0, {}
  end
end)
-- How jobs end.
local DEAD_KEPT = 100000
local endings = {}
on_use(endings, function()
  -- The side records of a job. The first five are those of its runs.
  local SIDE_RECORDS = { 'failures', 'crashes', 'solo_crashes', 'stops', 'progress', 'errors', 'checkpoints' }

  -- Attempts and crash counts start again.
  function endings.forget_runs(id)
    for i = 1, 5 do delete_field(SIDE_RECORDS[i], id) end
  end
  -- Removes the side records of these jobs.
  function endings.forget_side_records(ids)
    if has('blocked') then
      for _, id in ipairs(ids) do groups.unblock(id) end
    end
    for _, name in ipairs(SIDE_RECORDS) do
      if has(name) then each_portion(ids, 1000, 'HDEL', key(name)) end
    end
  end

  -- Ends a job for good. `how` is a letter of the ended record (f finished, c cancelled, r replaced, x deleted).
  function endings.end_job(id, how, line, result, at_head)
    local successor = how == 'r' and successor_of(id)
    if line then history.keep(id, how, line, result) end
    remember(id, how)
    free_name(id, at_head)
    endings.forget_side_records({ id })
    call('HDEL', key('body'), id)
    if has('workflow:of') then workflows.ended(id, how, result, successor) end
  end

  -- Ends a job whose claim is over, if a successor waits, and returns whether one did. With `at_head`, the successor goes
  -- to the head of its ready list, because the ended job would have returned there. Otherwise a job that is replaced
  -- again and again would never run in a long list.
  function endings.superseded(id, fragment, attempt, worker, line, at_head)
    if not successor_of(id) then return false end
    event('replaced', id, fragment, attempt, worker, 0, 'null')
    count('replaced')
    endings.end_job(id, 'r', line, nil, at_head)
    return true
  end

  local function trim_dead()
    if call('ZCARD', key('dead')) < DEAD_KEPT then return end
    local oldest = call('ZPOPMIN', key('dead'))[1]
    endings.forget_side_records({ oldest })
    call('HDEL', key('body'), oldest)
    remember(oldest, 'x')
    if has('workflow:of') then workflows.ended(oldest, 'x') end
    count('dead_trimmed')
  end

  -- Sets a job aside as dead and frees its name.
  function endings.die(id, fragment, attempt, worker, duration, error)
    local line = event('dead', id, fragment, attempt, worker, duration, error)
    count('dead')
    -- Trims first: after the clock was set back, the new job would look like the oldest.
    trim_dead()
    call('ZADD', key('dead'), nowtext, id)
    history.keep_error(id, line)
    free_name(id)
    delete_field('stops', id)
    if has('workflow:of') then workflows.died(id) end
    local _, _, _, _, _, _, group = header(has('blocked') and call('HGET', key('body'), id))
    if group and rule_of(group).skips_dead then groups.unblock(id) end
  end

  -- Handles an entry of a ready list or a due set without a body: invalid, unless its job has just ended.
  function endings.handle_stray(id, reason)
    if call('ZSCORE', key('dead'), id) then return count('strays') end
    local made = call('HSETNX', key('body'), id, '') == 1
    if made and (field('ended', id) or field('ended:old', id)) then
      call('HDEL', key('body'), id)
      return count('strays')
    end
    endings.die(id, NAMELESS, 0, 'null', 0, reason or '"the stored job is missing; push it again"')
  end

  -- Ends a claim that has no outcome of its own: `kind` is released or recovered. Returns the body if the job must go to
  -- the head of its ready list.
  function endings.end_claim(id, session, kind)
    local body = call('HGET', key('body'), id)
    if not body then return end
    room = room - #body
    local _, _, _, fragment = header(body)
    fragment = fragment or NAMELESS
    local attempt = num(field('failures', id)) + 1
    local stop = field('stops', id)
    local worker = '"' .. printable(session) .. '"'
    if stop and (stop == 'cancel' or not successor_of(id)) then
      count('cancelled')
      return endings.end_job(id, 'c', event('cancelled', id, fragment, attempt, worker, 0, 'null'), nil, true)
    end
    local line = event(kind, id, fragment, attempt, worker, 0, 'null')
    count(kind)
    if endings.superseded(id, fragment, attempt, worker, line, true) then return end
    return body, fragment, attempt, worker, line
  end
end)

-- Writes the gathered changes. Every script that changes jobs ends with it.
local function flush()
  if next(workflows.changed) then workflows.continue() end
  flush_ended()
  if kept ~= 0 or #order > 0 then history.trim() end
  if rates.has_started then rates.forget() end
  publish()
  add_totals()
  wake(fresh)
end
-- Workflows: what the end of a job means for the jobs that come after it, and for its workflow.
--
-- The jobs of a workflow W go by their numbers there. `workflow:of` has the place of each job that has not ended: W:N, or
-- W:N:QUEUE if the workflow is in another queue; of one that stands for several, all of them. `needs:W` has
-- DEPENDANT>DEPENDENCY for each need that is not met, and `dependants:W` has DEPENDENCY>CONDITION>DEPENDANT (s success, a
-- any end, f failure). The jobs without needs come after `r`, which ends when the workflow is sealed. `workflow:work` lists
-- the ends whose dependants are still to be looked at: W, number and how it has ended. `blocked:jobs` has due time, policy
-- and name of each job that waits for others, and after the policy @QUEUE if it runs in another queue. `workflow:hops` lists
-- what is to be told to other queues.
on_use(workflows, function()
  local RESULT_BYTES = 67108864
  local changed, stopped = workflows.changed, workflows.stopped

  local keys = {}
  local function of(name, w)
    local own = keys[w] or {}
    keys[w] = own
    own[name] = own[name] or key(name .. ':' .. w)
    return own[name]
  end
  workflows.of = of
  -- What this call knows of a workflow: its state and the bytes of its results before, and whether one of its jobs is dead.
  local seen = {}
  local function look_at(w)
    if not seen[w] then
      local header = try('HMGET', of('workflow', w), 'state', 'bytes') or {}
      seen[w] = { state = header[1], bytes = num(header[2]), has_dead = call('EXISTS', of('dead', w)) == 1 }
    end
    return seen[w]
  end
  -- Notes an end: the letters are those of the records of ended jobs, and k skipped, i dead and ignored, d dead, after
  -- which the rest is cancelled, h dead and held.
  function workflows.note(w, n, how)
    local noted = workflows.noted
    noted[#noted + 1] = { w, n, how }
    changed[w], workflows.is_busy = true, true
  end
  -- Leaves a message, usually for another queue, with a number that only grows; any worker delivers it.
  function workflows.hop(text)
    local number = whole(math.max(num(field('runtime', 'hop')) + 1, now))
    set_field('runtime', 'hop', number)
    call('RPUSH', key('workflow:hops'), number .. ' ' .. text)
    workflows.is_busy = true
  end
  -- A job goes to another queue: its due time, policy and name, and its envelope. A callback has the number -.
  function workflows.send(to, w, n, id, place, envelope)
    workflows.hop('push ' .. to .. ' ' .. w .. ' ' .. n .. ' ' .. id .. ' ' .. #place .. '\n' .. place .. envelope)
  end
  -- Tells the home queue what has happened to a job here: f, c, e, x, k as in records of ended jobs, d dead, u retried, r
  -- another job has its place.
  local function tell_home(home, w, n, how, value)
    workflows.hop('end ' .. home .. ' ' .. w .. ' ' .. n .. ' ' .. how .. '\n' .. (value or ''))
  end
  function workflows.job_of(w, n) return call('HGET', of('jobs', w), n) or w .. '-' .. n end

  local FAILS = { c = true, e = true, x = true, d = true }
  function workflows.end_member(w, n, how, result)
    if try('SREM', of('open', w), n) ~= 1 then return end
    local flow = look_at(w)
    -- An error would lose the ends that are noted so far.
    if flow.has_dead then try('SREM', of('dead', w), n) end
    try('HSET', of('ends', w), n, how .. nowtext)
    if FAILS[how] then try('HSET', of('workflow', w), 'has_failure', 1) end
    -- A client cancels the jobs that do not wait for others: there may be many, also in other queues.
    if how == 'd' and try('HSET', of('workflow', w), 'cancels', 1) == 1 then workflows.hop('stop ' .. queue .. ' ' .. w .. ' - -\n') end
    result = result or ''
    if how == 'f' and flow.bytes + #result <= RESULT_BYTES then
      flow.bytes = flow.bytes + #result
      if #result > 0 then try('HINCRBY', of('workflow', w), 'bytes', #result) end
      try('HSET', of('outputs', w), n, result)
    end
    -- Nothing runs before the seal, which looks at the dependants of jobs that were cancelled or deleted before it.
    if flow.state ~= 'unsealed' then workflows.note(w, n, how) end
  end

  -- Calls one of two functions for each place of a job: one of this queue, or of another one.
  local function each_place(text, here, elsewhere)
    for w, n, home in string.gmatch(text, '(%w+):(%d+):?(%S*)') do
      if home == '' then here(w, n) else elsewhere(home, w, n) end
    end
  end
  -- The places of a job pass to another one, which has replaced it or holds the name because of which it was dropped.
  local function pass_on(text, id)
    local own = field('workflow:of', id)
    set_field('workflow:of', id, own and own .. ' ' .. text or text)
    each_place(text, function(w, n) workflows.move_member(w, n, id) end, function(home, w, n) tell_home(home, w, n, 'r', id) end)
  end
  function workflows.move_member(w, n, id)
    call('HSET', of('jobs', w), n, id)
    call('HSET', of('numbers', w), id, n)
  end
  -- A job has ended. `newer` is the one that has replaced it.
  function workflows.ended(id, how, result, newer)
    local text = field('workflow:of', id)
    if not text then return end
    call('HDEL', key('workflow:of'), id)
    if newer then return pass_on(text, newer) end
    each_place(text, function(w, n) workflows.end_member(w, n, how, result) end,
      function(home, w, n) tell_home(home, w, n, how, result) end)
  end

  -- Takes away a job's places in a workflow.
  function workflows.leave(w, id)
    local text, kept = field('workflow:of', id), {}
    for place in string.gmatch(text or '', '%S+') do
      if string.sub(place, 1, #w + 1) ~= w .. ':' then kept[#kept + 1] = place end
    end
    if kept[1] then set_field('workflow:of', id, table.concat(kept, ' ')) elseif text then call('HDEL', key('workflow:of'), id) end
  end

  -- A job was dropped because of another one, which takes its places if it has not ended.
  function workflows.dropped(id, holder)
    local text = field('workflow:of', id)
    if not text then return end
    call('HDEL', key('workflow:of'), id)
    if call('HEXISTS', key('body'), holder) == 1 then return pass_on(text, holder) end
    each_place(text, function(w, n) workflows.end_member(w, n, 'k') end, function(home, w, n) tell_home(home, w, n, 'k') end)
  end

  -- Returns whether the member holds up its workflow.
  function workflows.member_died(w, n)
    local on_dead = call('HGET', of('workflow', w), 'on_dead')
    if on_dead == 'ignore' or on_dead == 'cancel_rest' then
      workflows.end_member(w, n, on_dead == 'ignore' and 'i' or 'd')
      return false
    end
    local is_open = call('SISMEMBER', of('open', w), n) == 1
    if is_open then look_at(w).has_dead = true end
    if is_open and call('SADD', of('dead', w), n) == 1 then workflows.note(w, n, 'h') end
    return is_open
  end
  -- A job is dead. Unless it holds up its workflow, it has no place there any more.
  function workflows.died(id)
    local text = field('workflow:of', id)
    if not text then return end
    local kept = {}
    each_place(text, function(w, n)
      if workflows.member_died(w, n) then kept[#kept + 1] = w .. ':' .. n end
    end, function(home, w, n)
      kept[#kept + 1] = w .. ':' .. n .. ':' .. home
      tell_home(home, w, n, 'd')
    end)
    if kept[1] then set_field('workflow:of', id, table.concat(kept, ' ')) else call('HDEL', key('workflow:of'), id) end
  end
  function workflows.member_retried(w, n)
    call('SREM', of('dead', w), n)
    changed[w] = true
  end
  -- Somebody retries a dead job.
  function workflows.retried(id)
    each_place(field('workflow:of', id) or '', workflows.member_retried, function(home, w, n) tell_home(home, w, n, 'u') end)
  end

  -- Whether nothing of a workflow starts any more.
  local function is_stopped(w)
    if stopped[w] == nil then
      local header = call('HMGET', of('workflow', w), 'state', 'cancels')
      stopped[w] = header[1] == 'cancelled' or header[2] == '1'
    end
    return stopped[w]
  end

  -- A blocked job leaves its place. Returns its due time, policy and name; nil if it is not blocked.
  function workflows.take_blocked(id)
    local place = has('blocked:jobs') and try('HGET', key('blocked:jobs'), id)
    if not place then return nil end
    call('HDEL', key('blocked:jobs'), id)
    call('ZREM', key('blocked:order'), id)
    return string.match(place, '^(%d+) (%S+) (.*)$')
  end
  local function end_blocked(id, kind, how)
    local body = call('HGET', key('body'), id)
    local _, _, _, fragment = header(body)
    local line = event(kind, id, fragment or NAMELESS, 0, 'null', 0, 'null')
    count(kind)
    endings.end_job(id, how, line)
  end
  -- Ends a job that has left its place among the blocked ones if its workflow was stopped. Returns whether it did.
  function workflows.cancel_stopped(id)
    local is_over = false
    each_place(field('workflow:of', id) or '', function(w) is_over = is_over or is_stopped(w) end, function() end)
    if is_over then end_blocked(id, 'cancelled', 'c') end
    return is_over
  end
  -- The expiry of a member counts from now on.
  function workflows.with_expiry(body)
    local start, after, rest = string.match(body, '^(' .. string.rep('%d', 13) .. '2%a%d;%d+;%d*;%d*;)%+(%d+)(;.*)$')
    if not start then return body end
    return start .. whole(now + num(after)) .. rest
  end
  -- A job has no needs any more: it gets its name and is ready, or scheduled. If another job holds the name, the next
  -- promotion decides.
  local function release(w, n)
    local id = workflows.job_of(w, n)
    local place = try('HGET', key('blocked:jobs'), id)
    local due, policy, name = string.match(place or '', '^(%d+) (%S+) (.*)$')
    local body = due and call('HGET', key('body'), id)
    if not body then return end
    local short, elsewhere = string.match(policy, '^(.*)@(.*)$')
    if elsewhere and not is_stopped(w) then
      workflows.take_blocked(id)
      delete_field('workflow:of', id)
      call('HDEL', key('body'), id)
      return workflows.send(elsewhere, w, n, id, due .. ' ' .. short .. ' ' .. name, string.sub(body, 14))
    end
    if policy ~= 'i' and not is_stopped(w) and (#policy > 1 or call('HEXISTS', key('unique'), name) == 1) then
      call('RPUSH', key('blocked:released'), id)
      known['blocked:released'] = true
      return
    end
    workflows.take_blocked(id)
    if is_stopped(w) then return end_blocked(id, 'cancelled', 'c') end
    if policy ~= 'i' then
      set_field('unique:of', id, name)
      set_field('unique', name, id)
    end
    body = workflows.with_expiry(body)
    call('HSET', key('body'), id, stamp .. string.sub(body, 14))
    moves.enqueue(id, body, num(due))
  end
  local function skip(w, n)
    local id = workflows.job_of(w, n)
    try('ZREMRANGEBYLEX', of('needs', w), '[' .. n .. '>', '(' .. n .. '?')
    if not workflows.take_blocked(id) then return end
    end_blocked(id, is_stopped(w) and 'cancelled' or 'skipped', is_stopped(w) and 'c' or 'k')
  end
  local function meet(w, n, dependency)
    try('ZREM', of('needs', w), n .. '>' .. dependency)
    local left = try('ZRANGEBYLEX', of('needs', w), '[' .. n .. '>', '(' .. n .. '?', 'LIMIT', 0, 1) or {}
    if #left == 0 then release(w, n) end
  end

  -- What each end means for those that come after it: by success, by any end, by failure. A dead job that holds up its
  -- workflow has ended for the last two only.
  local DONE = { s = meet, a = meet, f = skip }
  local FAILED = { s = skip, a = meet, f = meet }
  local MEANING = {
    f = DONE, i = DONE, c = FAILED, e = FAILED, x = FAILED, d = FAILED, k = { s = skip, a = meet, f = skip }, h = { a = meet, f = meet },
  }
  -- Looks at dependants of one end; returns how many, and whether these were all.
  function workflows.continue_one(w, n, how, most)
    local meaning = MEANING[how]
    if not meaning then return 0, true end
    local last = how == 'h' and '>g' or '?'
    local edges = try('ZRANGEBYLEX', of('dependants', w), '[' .. n .. '>', '(' .. n .. last, 'LIMIT', 0, most) or {}
    if #edges > 0 then try('ZREM', of('dependants', w), unpack(edges)) end
    for _, edge in ipairs(edges) do
      local condition, dependant = string.match(edge, '^%w+>(%a)>(%d+)$')
      local apply = meaning[condition]
      if apply then apply(w, dependant, n) end
    end
    return #edges, #edges < most
  end
end)
-- Workflows: when one has ended, has failed or goes on, and what is left to later calls.
on_use(workflows, function()
  -- How many dependants, or jobs, one call looks at.
  local MOST = 30
  local changed, of = workflows.changed, workflows.of

  -- The server frees a large key in the background, unless the user may not call UNLINK.
  local function free(name)
    local reply = redis.pcall('UNLINK', name)
    if type(reply) == 'table' and reply.err then call('DEL', name) end
  end
  -- Pushes the job of an end: id, @QUEUE if it runs in another one, and envelope. In later rounds it has another id.
  local function push_callback(w, round, job)
    local id, elsewhere, envelope = string.match(job or '', '^([^ @]+)@?(%S*) (.+)$')
    if id and round ~= '1' then id = id .. '-' .. round end
    if id and elsewhere ~= '' then return workflows.send(elsewhere, w, '-', id, '0 i ', envelope) end
    if not id or call('HEXISTS', key('body'), id) == 1 or field('ended', id) or field('ended:old', id) then return end
    local body = workflows.with_expiry(stamp .. envelope)
    call('HSET', key('body'), id, body)
    moves.enqueue(id, body, 0)
    count('pushed')
  end
  local function tell(w, kind, json_name, round)
    count('workflow_' .. kind)
    gather_event('{"event":"workflow_' .. kind .. '","id":"' .. queue .. ':' .. w .. '","operation":null,"name":' .. json_name
      .. ',"queue":"' .. queue .. '","attempt":0,"worker":null,"at_ms":' .. nowtext .. ',"duration_ms":0,"error":null,"round":' .. round .. '}')
  end
  -- Decides whether a workflow has ended, has failed, or goes on.
  local function settle(w)
    local at = of('workflow', w)
    local header = call('HMGET', at, 'state', 'has_failure', 'round', 'name', 'json_name', 'on_success', 'on_failure', 'cancels', 'ended')
    local state, has_failure, round, name, json_name = unpack(header, 1, 5)
    if not state or state == 'unsealed' or header[9] then return end
    local before, open, dead = state, call('SCARD', of('open', w)), call('SCARD', of('dead', w))
    if state ~= 'cancelled' then
      if dead > 0 or header[8] then state = 'failed'
      elseif open > 0 then state = 'running'
      else state = has_failure and 'failed' or 'finished' end
      if before == 'failed' and state == 'running' then round = whole(num(round) + 1) end
    end
    if state ~= before or round ~= header[3] then call('HSET', at, 'state', state, 'round', round) end
    if open == 0 then
      call('HSET', at, 'ended', nowtext)
      for _, part in ipairs({ 'outputs', 'needs', 'dependants', 'dead' }) do free(of(part, w)) end
      call('ZADD', key('workflows:ended'), nowtext, w)
      if call('HGET', key('workflow:names'), name) == w then call('HDEL', key('workflow:names'), name) end
    end
    if state == 'cancelled' and open == 0 then return tell(w, state, json_name, round) end
    if state == before or state == 'running' or state == 'cancelled' then return end
    tell(w, state, json_name, round)
    push_callback(w, round, header[state == 'finished' and 6 or 7])
  end

  -- Nothing of a workflow starts any more; dead jobs have ended then. Returns whether it had not ended.
  function workflows.stop(w)
    local header = call('HMGET', of('workflow', w), 'state', 'ended')
    if not header[1] or header[1] == 'unsealed' or header[2] then return false end
    call('HSET', of('workflow', w), 'state', 'cancelled')
    local dead = call('SMEMBERS', of('dead', w))
    table.sort(dead, function(one, other) return num(one) < num(other) end)
    for _, n in ipairs(dead) do
      call('SREM', of('open', w), n)
      workflows.leave(w, workflows.job_of(w, n))
      workflows.note(w, n, 'c')
    end
    call('DEL', of('dead', w))
    changed[w], workflows.stopped[w] = true, true
    return true
  end

  -- Forgets up to `most` jobs of a workflow, none of which runs, and the workflow with the last ones. Returns how many, and
  -- whether more are left.
  function workflows.forget(w, most)
    local taken = try('SPOP', of('open', w), most) or {}
    for _, n in ipairs(taken) do
      local id = workflows.job_of(w, n)
      workflows.leave(w, id)
      if workflows.take_blocked(id) then call('HDEL', key('body'), id) end
    end
    if call('EXISTS', of('open', w)) == 1 then return #taken, true end
    for _, part in ipairs(workflows.PARTS) do free(of(part, w)) end
    for _, name in ipairs({ 'workflows', 'workflows:unsealed', 'workflows:ended' }) do call('ZREM', key(name), w) end
    return #taken, false
  end

  local KEPT, KEPT_MS = 10000, 86400000
  -- Forgets a workflow that was not sealed in time, or one that ended a day ago or is one of too many. Returns whether
  -- others may follow.
  function workflows.trim()
    local late = call('ZRANGEBYSCORE', key('workflows:unsealed'), '-inf', nowtext, 'LIMIT', 0, 1)[1]
    if not late then
      local is_full = call('ZCARD', key('workflows:ended')) > KEPT
      late = call('ZRANGEBYSCORE', key('workflows:ended'), '-inf', is_full and '+inf' or whole(now - KEPT_MS), 'LIMIT', 0, 1)[1]
    end
    if late then workflows.forget(late, MOST) end
    return late ~= nil
  end

  -- Looks at dependants of ends in their order. Returns how many ends are done with, and how many more dependants may be
  -- looked at.
  local function continue_all(ends, most)
    local done = 0
    while most > 0 and ends[done + 1] do
      local w, n, how = unpack(ends[done + 1])
      local looked, is_all = workflows.continue_one(w, n, how, most)
      if is_all then done = done + 1 end
      most = most - math.max(looked, 1)
    end
    return done, most
  end
  -- The same of ends that earlier calls have left.
  local function continue_left(most)
    if not has('workflow:work') then return most end
    local ends, done = {}, 0
    for i, item in ipairs(call('LRANGE', key('workflow:work'), 0, most - 1)) do
      ends[i] = { string.match(item, '^(%w+) (%w+) (%a)$') }
    end
    done, most = continue_all(ends, most)
    if done > 0 then call('LPOP', key('workflow:work'), done) end
    return most
  end
  -- Leaves noted ends to later calls.
  local function leave(ends, done)
    local left = {}
    for i = done + 1, #ends do left[#left + 1] = table.concat(ends[i], ' ') end
    each_portion(left, 1000, 'RPUSH', key('workflow:work'))
    if left[1] then known['workflow:work'] = true end
  end

  -- Looks at the dependants of what has ended, at most so many; the rest is left to later calls. `resumes` says that an
  -- earlier call may have left some.
  function workflows.continue(resumes)
    if not (resumes or next(changed)) then return end
    local before = fresh
    local most = continue_left(MOST)
    -- What it skips is noted as well.
    leave(workflows.noted, (continue_all(workflows.noted, most)))
    workflows.noted = {}
    local order = {}
    for w in pairs(changed) do order[#order + 1] = w end
    table.sort(order)
    for _, w in ipairs(order) do
      settle(w)
      changed[w] = nil
    end
    workflows.freed = workflows.freed + fresh - before
  end
  -- Looks at the dependants of what has ended, and returns whether some of them are ready now.
  function workflows.frees()
    local before = workflows.freed
    workflows.continue()
    return workflows.freed > before
  end
  -- Whether this call leaves something for workflows to a promotion.
  function workflows.has_more()
    return workflows.noted[1] ~= nil or call('EXISTS', key('workflow:work'), key('blocked:released'), key('workflow:hops')) > 0
  end
end)
-- Checks pushed jobs before the first write. A job is five values in ARGV: id, due, policy, name, envelope; `from` is the
-- index of the first one.

-- Policies with a window: their letter, the window, and the longest wait of a debounced job ('' for none).
local function timed_policy(policy)
  local letter, window, at_most = string.match(policy, '^([tB]):(%d+):?(%d*)$')
  if letter and (num(window) < 1 or num(window) > 31536000000 or num(at_most) > 31536000000) then letter = nil end
  if letter == 't' and at_most ~= '' then letter = nil end
  return letter, num(window), num(at_most)
end

-- Whether a job of this call has a header of version 2.
local has_newer = false
-- A pushed envelope of version 2 says how long after the push it expires; the stored one says when.
local function settle_newer(i, envelope)
  has_newer = true
  local start, expires_in, rest, cost, group =
    string.match(envelope, '^(2%a%d;%d+;%d*;%d*;)([^;]*)(;(%d*);([^\n]*).*)$')
  if cost ~= '' and (num(cost) < 1 or num(cost) > 1000000) then return 'the cost in the header must be 1 to 1000000' end
  if group ~= '' and not is_group(group) then
    return 'the group in the header must be one or two parts with a slash between, of [A-Za-z0-9_.:@+-]{1,64} each'
  end
  if expires_in == '' then return end
  if not string.find(expires_in, '^%+%d+$') or num(expires_in) < 1 or num(expires_in) > 31536000000 then
    return 'the expiry in the header must be + and the milliseconds after the push, 1 to 31536000000'
  end
  ARGV[i + 4] = start .. whole(now + num(expires_in)) .. rest
end

-- The list in which a pushed job waits. The header of version 1 has no group.
local ready_lists = {}
local function list_name(envelope)
  local version, _, level = string.byte(envelope, 1, 3)
  if version == 50 then return list_of(stamp .. envelope) end
  local name = ready_lists[level]
  if not name then
    name = 'ready:' .. string.char(level)
    ready_lists[level] = name
  end
  return name
end
-- Most jobs are due now.
local function is_due(due) return due == '0' or num(due) <= now end

local find = string.find
local function problem(i)
  local id, due, policy, name, envelope = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  if policy == 'i' and due == '0' and name == '' and #id <= 64 and #envelope <= 1200000 and find(id, '^%w+$')
    and find(envelope, '^1i%d;%d*;%d*;%d+\n') then return end
  if #id < 1 or #id > 64 or string.find(id, '[^%w_-]') then return 'the id must match [A-Za-z0-9_-]{1,64}' end
  if due ~= '0' and (#due > 15 or not string.find(due, '^%d+$')) then return 'the due time must be milliseconds since 1970' end
  -- Values of ten to twelve digits are seconds of these centuries; as milliseconds they are weeks or years after 1970.
  if #due >= 10 and #due <= 12 then return 'the due time must be milliseconds since 1970; it looks like seconds' end
  local letter = (policy == 'i' or string.find(policy, '^[drkDRK]$')) and policy or timed_policy(policy)
  if not letter then return 'the policy must be i, d, r, k, D, R, K, t:WINDOW or B:WINDOW[:AT_MOST]' end
  if (letter == 'i') ~= (name == '') then return 'a name goes with every policy except i' end
  if #name > 1024 then return 'the name is longer than 1024 bytes' end
  if #envelope > 1200000 then return 'the envelope is longer than 1200000 bytes' end
  if string.sub(envelope, 1, 2) == '1' .. letter and string.find(envelope, '^1%a%d;%d*;%d*;%d+\n') then return end
  if string.sub(envelope, 1, 2) ~= '2' .. letter or not string.find(envelope, '^2%a%d;%d+;%d*;%d*;[+%d]*;%d*;[^\n]*\n') then
    return 'the envelope must begin with a header of version 1 or 2 and the same policy'
  end
  return settle_newer(i, envelope)
end

-- The number of jobs, from the first, that the queue has room for. A job that the queue already has needs no room: it
-- is pushed again, and gets its receipt even if the queue is full.
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

-- The error for jobs that do not all fit. Its first word is the number of jobs, from the first, that do, so that the
-- caller can push these alone.
local function refuse_as_full(fitting, jobs, waiting, tombstones, most)
  local what = 'is full'
  if fitting > 0 then what = 'has room for ' .. fitting .. ' of these ' .. jobs .. ' jobs' end
  local places = tombstones > 0 and ', ' .. tombstones .. ' of them places of cancelled or replaced jobs that the next claims clear' or ''
  return redis.error_reply('ERRANDFULL ' .. fitting .. ' queue "' .. queue .. '" ' .. what .. ': it holds ' .. waiting .. places
    .. ', its limit is ' .. whole(most) .. '; wait, or raise the limit with errand queue limit ' .. queue)
end

-- An error reply if a job is invalid, and else the number of jobs in the queue; every check precedes the first write.
local function refuse_jobs(from)
  local places = {}
  for i = from, #ARGV, 5 do
    local what = problem(i)
    if what then return redis.error_reply('ERRAND job ' .. (i - from + 5) / 5 .. ': ' .. what) end
    places[is_due(ARGV[i + 1]) and list_name(ARGV[i + 4]) or 'scheduled'] = true
  end
  local waiting, most, jobs = call('HLEN', key('body')), setting('maximum', MOST_JOBS), (#ARGV - from + 1) / 5
  -- A job that has left a long ready list occupies its entry until the entry reaches the head.
  local tombstones = has('tombstones') and call('HLEN', key('tombstones')) or 0
  waiting = waiting + tombstones
  if waiting + jobs > most then
    local fitting = count_fitting(from, most - waiting)
    if fitting < jobs then return refuse_as_full(fitting, jobs, waiting, tombstones, most) end
  end
  -- A list of the wrong type is detected here, before the first write.
  for place in pairs(places) do call(place == 'scheduled' and 'ZCARD' or 'LLEN', key(place)) end
  return nil, waiting
end
-- What the jobs of a push change, written with one command a key: bodies, entries, names and aliases of new jobs, and the
-- removal of those that are replaced.
local bodies, entries, seen = {}, {}, {}
local names_of, holders_of, aliases, aliases_of, replaced = {}, {}, {}, {}, {}
local function gather_name(id, name)
  local n = #names_of
  names_of[n + 1], names_of[n + 2] = id, name
  holders_of[n + 1], holders_of[n + 2] = name, id
end
local function gather(id, envelope, due)
  local n = #bodies
  bodies[n + 1], bodies[n + 2] = id, stamp .. envelope
  seen[id] = true
  if not is_due(due) then
    call('ZADD', key('scheduled'), due, id)
    known.scheduled = true
  else
    local name = list_name(envelope)
    local list = entries[name]
    if not list then
      list = {}
      entries[name] = list
    end
    list[#list + 1] = entry_for(id)
    fresh = fresh + 1
  end
end
-- Removes what is stored of the jobs that were replaced.
local function remove_replaced()
  endings.forget_side_records(replaced)
  for _, name in ipairs({ 'unique:of', 'alias:of', 'debounced', 'body' }) do
    if has(name) then each_portion(replaced, 1000, 'HDEL', key(name)) end
  end
  replaced = {}
end
local function write_gathered()
  each_portion(bodies, 1000, 'HSET', key('body'))
  for name, list in pairs(entries) do
    each_portion(list, 1000, 'RPUSH', key(name))
    if parse_list(name) then fresh = fresh - #list + note_added(name, call('LLEN', key(name)), #list) end
  end
  if #names_of > 0 then
    each_portion(names_of, 1000, 'HSET', key('unique:of'))
    each_portion(holders_of, 1000, 'HSET', key('unique'))
    known['unique:of'], known.unique = true, true
  end
  if #aliases > 0 then
    each_portion(aliases, 1000, 'HSET', key('alias'))
    each_portion(aliases_of, 1000, 'HSET', key('alias:of'))
    known.alias, known['alias:of'] = true, true
  end
  if #replaced > 0 then remove_replaced() end
  bodies, entries, names_of, holders_of, aliases, aliases_of = {}, {}, {}, {}, {}, {}
end
-- Jobs that replace a waiting one of their name, or wait for the end of the one that runs.

-- The holders of the names of a call, the names of these holders, their entries in the ready lists, and the jobs that have these
-- entries. They are read together before the first job.
local former_holders, former_names, former_entries, former_aliases = {}, {}, {}, {}

local function event_of(kind, id, fragment) return event(kind, id, fragment, 0, 'null', 0, 'null') end

-- Ends the job that another one replaces.
local function end_replaced(holder, fragment, newer)
  local line = event_of('replaced', holder, fragment or NAMELESS)
  count('replaced')
  history.keep(holder, 'r', line)
  remember(holder, 'r')
  replaced[#replaced + 1] = holder
  if not (has('blocked') or has('workflow:of')) then return end
  -- Groups and workflows go on with what is stored.
  write_gathered()
  if has('workflow:of') then workflows.ended(holder, 'r', nil, newer) end
end

-- Whether a waiting job is in the list of unroutable jobs of its operation.
local function is_unroutable(id, body)
  if not has('unroutable') then return false end
  local _, _, _, fragment = header(body)
  local operation = string.match(fragment or '', '^"operation":"([%w_.-]+)"')
  local group = operation and unroutable_field(operation, body)
  if not group or not field('unroutable', group) then return false end
  -- Whether the corrupt list has the job is unknown. At the end of its own ready list the new job is certainly found.
  if wrong_type('unroutable:' .. group, 'list') then return true end
  -- A long list is not searched: the new job then goes to the end of its ready list.
  return call('LLEN', key('unroutable:' .. group)) > 1000 or call('LPOS', key('unroutable:' .. group), entry_of(id))
end

local function score_of(set, id) return has(set) and call('ZSCORE', key(set), id) end

-- Adds a job in the position of the waiting one that it replaces.
local function gather_at(entry, id, body)
  local n = #bodies
  bodies[n + 1], bodies[n + 2] = id, body
  seen[id] = true
  former_aliases[entry] = id
  n = #aliases
  aliases[n + 1], aliases[n + 2] = entry, id
  aliases_of[n + 1], aliases_of[n + 2] = id, entry
end
local function replace_waiting(holder, old, id, name, envelope, due)
  local zset = (score_of('scheduled', holder) and 'scheduled') or (score_of('retrying', holder) and 'retrying')
  local entry, priority, _, _, fragment, _, _, group = former_entries[holder] or entry_of(holder), header(old)
  local keeps_position = not zset and is_due(due) and list_with(priority, group) == list_name(envelope)
    and not is_unroutable(holder, old) and num(field('crashes', holder)) < QUARANTINE_AFTER
    and (former_aliases[entry] or field('alias', entry) or holder) == holder
  if keeps_position then
    gather_at(entry, id, (priority and string.sub(old, 1, 13) or stamp) .. envelope)
  else
    gather(id, envelope, due)
    write_gathered()
    if zset then call('ZREM', key(zset), holder) else moves.remove_from_ready(holder, old) end
  end
  gather_name(id, name)
  end_replaced(holder, fragment, id)
end

local function defer(holder, id, name, envelope, due)
  local old = successor_of(holder)
  call('HSET', key('body'), id, stamp .. envelope)
  seen[id] = true
  set_field('unique:of', id, name)
  set_field('successors', holder, whole(num(due)) .. ':' .. id)
  if not old then return end
  local _, _, _, fragment = header(call('HGET', key('body'), old))
  end_replaced(old, fragment, id)
end
-- Adds jobs to the queue, both those that producers push and those of schedules. A job is five values in ARGV: id, due,
-- policy, name, envelope; `from` is the index of the first one.

-- Whether jobs are refused whose group has too many waiting jobs. The jobs of schedules are not.
local refuses_jobs = false
local waiting_of = {}
-- The group, or the first part of it, for which a job that is due would be one too many; nil if there is none.
local function full_group_of(due, envelope)
  if string.byte(envelope, 1) ~= 50 or not refuses_jobs or not is_due(due) or not has('flow') then return nil end
  local _, _, _, _, _, _, group = header(stamp .. envelope)
  local counted = {}
  for _, part in ipairs(group and groups.limited(group) or {}) do
    local most = rule_of(part).max_waiting
    if most then
      waiting_of[part] = waiting_of[part] or groups.count_waiting(part)
      if waiting_of[part] >= most then return part end
      counted[#counted + 1] = part
    end
  end
  for _, part in ipairs(counted) do waiting_of[part] = waiting_of[part] + 1 end
end

local function stop(holder, session)
  if not field('stops', holder) then set_field('stops', holder, 'replace') end
  call(PUBLISH, key('wakeups:' .. session), 's')
end

-- Whether a `drop` is deferred until a running holder ends, if it has no successor yet, instead of being dropped.
local defers_drops = false

-- When a debounced job is due: when its window is over, and at the latest when the first job of its series must run.
-- `former` is the job that it replaces.
local function debounce(id, policy, former)
  local _, window, at_most = timed_policy(policy)
  local latest = num(former and field('debounced', former))
  if latest == 0 and at_most > 0 then latest = now + at_most end
  if latest == 0 then return whole(now + window) end
  set_field('debounced', id, whole(latest))
  return whole(math.min(now + window, latest))
end

local function read_holders(from)
  local names, holders = {}, {}
  for i = from + 3, #ARGV, 5 do
    if ARGV[i] ~= '' and former_holders[ARGV[i]] == nil then
      names[#names + 1] = ARGV[i]
      former_holders[ARGV[i]] = false
    end
  end
  for n, holder in ipairs(#names > 0 and has('unique') and call('HMGET', key('unique'), unpack(names)) or {}) do
    former_holders[names[n]] = holder
    if holder then holders[#holders + 1] = holder end
  end
  if #holders == 0 then return end
  local of_holders = has('unique:of') and call('HMGET', key('unique:of'), unpack(holders)) or {}
  local entries_of = has('alias:of') and call('HMGET', key('alias:of'), unpack(holders)) or {}
  local entries = {}
  for n, holder in ipairs(holders) do
    entries[n] = entries_of[n] or holder
    former_names[holder], former_entries[holder] = of_holders[n], entries[n]
  end
  local of_entries = has('alias') and call('HMGET', key('alias'), unpack(entries)) or {}
  for n, entry in ipairs(entries) do former_aliases[entry] = of_entries[n] or holders[n] end
end
-- The holder of a name, its session if it may run, and otherwise its body, unless the caller needs none. For the first job of
-- a call with this name it is the former one.
local function holder_of(name, needs_body)
  local holder, named = former_holders[name], nil
  if holder == nil then
    write_gathered()
    holder = call('HGET', key('unique'), name)
    named = holder and field('unique:of', holder)
  elseif holder then
    named = former_names[holder]
  end
  former_holders[name] = nil
  -- A lock is void if its holder is gone or does not have the name.
  if not holder or named ~= name then return nil end
  local session = field('running', holder)
  local body = needs_body and not session and call('HGET', key('body'), holder)
  if body or call('HEXISTS', key('body'), holder) == 1 then return holder, session, body end
end

-- How many jobs this call has.
local job_count = 0
local function tell_dropped(id, envelope)
  if not is_heard(job_count) then return end
  local _, _, _, fragment = header(stamp .. envelope)
  event_of('dropped', id, fragment or NAMELESS)
end

local function push_named(id, due, policy, name, envelope)
  local drops = policy == 'd' or policy == 'D'
  local holder, session, body = holder_of(name, not drops)
  local is_debounced = string.sub(policy, 1, 1) == 'B'
  if not holder then
    if is_debounced then due = debounce(id, policy) end
    local full = full_group_of(due, envelope)
    if full then return 'f:' .. full end
    gather(id, envelope, due)
    gather_name(id, name)
    return is_debounced and 'a::' .. due or 'a'
  end
  -- Earlier jobs are written by now, so a key of a wrong type must not end the script here. The doctor then checks
  -- whether the session still has the claim. Treating the holder as waiting would end a job that runs.
  local runs = session and (wrong_type('claims:' .. session, 'hash') or call('HEXISTS', claims_key(session), holder) == 1)
  if not runs then session = nil end
  if drops then
    local successor = session and successor_of(holder)
    if not (session and (defers_drops or field('stops', holder))) or successor then
      tell_dropped(id, envelope)
      return 'd:' .. (successor or holder)
    end
    defer(holder, id, name, envelope, due)
    return 'n:' .. holder
  end
  local time = ''
  if is_debounced then
    due = debounce(id, policy, session and successor_of(holder) or holder)
    time = ':' .. due
  end
  if session then
    defer(holder, id, name, envelope, due)
    -- Only a replacement stops a run; the others wait for its end.
    if policy == 'r' or policy == 'R' then stop(holder, session) end
    return 'n:' .. holder .. time
  end
  replace_waiting(holder, body or call('HGET', key('body'), holder), id, name, envelope, due)
  return 'r:' .. holder .. time
end

-- Removes a few windows that are over. The keys themselves expire when no window is left.
local function forget_windows()
  local over = has('throttled:ends') and call('ZRANGEBYSCORE', key('throttled:ends'), '-inf', nowtext, 'LIMIT', 0, 10) or {}
  if #over == 0 then return end
  call('HDEL', key('throttled'), unpack(over))
  call('ZREM', key('throttled:ends'), unpack(over))
end
local function remember_window(name, ends, id)
  set_field('throttled', name, nowtext .. ':' .. whole(ends) .. ':' .. id)
  call('ZADD', key('throttled:ends'), whole(ends), name)
  known['throttled:ends'] = true
  local last = num(call('ZREVRANGE', key('throttled:ends'), 0, 0, 'WITHSCORES')[2])
  for _, part in ipairs({ 'throttled', 'throttled:ends' }) do call('PEXPIRE', key(part), whole(math.max(last - now, 1))) end
end

-- The first job of a name in a window is accepted, and later ones are dropped. The window is a record of its own, which
-- outlives the job.
local function push_throttled(id, due, policy, name, envelope)
  local _, window = timed_policy(policy)
  forget_windows()
  local began, ends, first = string.match(field('throttled', name) or '', '^(%d+):(%d+):(.+)$')
  if began and num(ends) > now then
    -- If the clock was set back, the window has its own length again.
    if num(began) > now then
      ends = whole(now + num(ends) - num(began))
      remember_window(name, num(ends), first)
    end
    tell_dropped(id, envelope)
    return 'd:' .. first .. ':' .. ends
  end
  local full = full_group_of(due, envelope)
  if full then return 'f:' .. full end
  gather(id, envelope, due)
  remember_window(name, now + window, id)
  return 'a::' .. whole(now + window)
end

-- Adds a job that is not known; returns the text of its receipt.
local function push_one(id, due, policy, name, envelope)
  if policy ~= 'i' then
    local push = string.byte(policy) == 116 and push_throttled or push_named
    return push(id, due, policy, name, envelope)
  end
  local full = string.byte(envelope) == 50 and full_group_of(due, envelope)
  if full then return 'f:' .. full end
  gather(id, envelope, due)
  return 'a'
end

-- Adds the jobs in order, and one text for each job to the reply.
local function push_jobs(from, reply)
  local ids = {}
  for i = from, #ARGV, 5 do ids[#ids + 1] = ARGV[i] end
  if #ids == 0 then return end
  local stored = call('HMGET', key('body'), unpack(ids))
  local recent = has('ended') and call('HMGET', key('ended'), unpack(ids)) or {}
  local older = has('ended:old') and call('HMGET', key('ended:old'), unpack(ids)) or {}
  local pushed, before = 0, #reply
  job_count = #ids
  read_holders(from)
  for n, id in ipairs(ids) do
    local i = from + n * 5 - 5
    local receipt = 'e'
    if not (stored[n] or seen[id] or recent[n] or older[n]) then
      receipt = push_one(id, ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4])
    end
    local kind = receipt == 'a' and receipt or string.sub(receipt, 1, 1)
    if kind == 'd' then count('dropped') elseif kind ~= 'e' and kind ~= 'f' then pushed = pushed + 1 end
    reply[before + n] = receipt
  end
  if pushed > 0 then count('pushed', pushed) end
  write_gathered()
end
-- push: adds jobs to the queue, one after the other.
--
-- KEYS       errand:{queue} errand:{queue}:gate
-- Arguments  for each job five values: id, due (ms since 1970; 0 is now), policy, name ('' for none), envelope.
--            Policies: i ignore, d drop, r replace, k keep the latest (with D, R and K the name is free from the first
--            claim on), t:WINDOW throttle, B:WINDOW[:AT_MOST] debounce (ms)
-- Reply      first 1 if the queue was not known before (then: SADD errand:queues queue), else 0; then one text a job:
--            a accepted · e exists · f:GROUP refused, because this group has too many waiting jobs · d:HOLDER dropped ·
--            r:HOLDER replaced · n:HOLDER deferred. With a window, a colon and a time (ms since 1970) follow: until when
--            a throttle drops jobs, or when a debounced job is due (a::TIME for an accepted one)
--
-- Runs without allow-oom: a push is refused if the server's memory is full.
local COUNT = #ARGV / 5
if COUNT < 1 or COUNT > 1000 or COUNT ~= math.floor(COUNT) then
  return redis.error_reply('ERRAND push takes 1 to 1000 jobs of 5 values each')
end
local refused, waiting = refuse_jobs(1)
if refused then return refused end

local reply = { 0 }
if waiting == 0 and call('HLEN', key('counters')) == 0 then reply[1] = 1 end
refuses_jobs = true
push_jobs(1, reply)

local function is_only_ready(level)
  if num(field('settings', 'starts')) == 1 then return false end
  local of_queue = special and has('flow') and rule_of(WHOLE_QUEUE) or {}
  if of_queue.at_once or of_queue.interval then return false end
  return is_only_list(level) and call('LLEN', key('ready:' .. level)) == 1
end

local function dispatch_to(session, lease_ends)
  local id, body, level = ARGV[1], stamp .. ARGV[5], string.sub(ARGV[5], 3, 3)
  local _, timeout, _, fragment = header(body)
  local operation = string.match(fragment or '', '^"operation":"([%w_.-]+)"')
  local function is_alone() return not has_newer and is_only_ready(level) and entry_of(id) == id end
  local is_dispatched = dispatch_job(id, body, level, timeout, operation, session, lease_ends, is_alone)
  if not is_dispatched then return is_dispatched end
  -- A capital letter: the job holds its name only until it starts, so the name is free now.
  if string.find(ARGV[3], '[DRK]') then free_name(id) elseif string.find(ARGV[3], '[drk]') then set_field('running', id, session) end
  return true
end
if COUNT == 1 and string.sub(reply[2], 1, 1) == 'a' and fresh == 1 then dispatch = dispatch_to end

flush()
return reply
end)()
