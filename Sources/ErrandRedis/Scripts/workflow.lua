-- workflow: pushes a workflow in portions, and changes it by hand.
--
-- KEYS       errand:{queue} errand:{queue}:gate
-- Arguments  begin, W, name, name as JSON, policy (i, d or r), on_dead, ms until it must be sealed, then the jobs for success
--            and failure: `ID ENVELOPE`, or ''
--            add, W, then the claim of the job that adds: id, token and session ('' before the seal; without a token, the
--            job runs in another queue), then for each job six values: id, key, `DUE POLICY NAME` (policy i for no name;
--            @QUEUE after the policy of one that runs in another queue), number (as it is pushed), needs, envelope. Needs
--            are a condition and a number each, separated by spaces: s success, a any end, f failure; +N is the Nth job
--            of this call, from 0
--            seal, W · cancel, W: nothing of it starts any more · forget, W
--            arrive, W, number, home queue, id, `DUE POLICY NAME`, envelope: a job of a workflow of another queue
--            ended, W, number, message number, how, value: what has happened to a job in another queue
--            delivered, W, message number: this queue's messages up to it are delivered
-- Reply      begin: 1 if the queue was not known before, else 0; then begun, sealed, dropped or replaces, and the other W
--            add: the number of each job · seal: sealed, dropped or replaced, and the other W
--            cancel: 1, or 0 if it has ended · forget: how many members were looked at, and 1 if more are left
--            arrive, ended: 1 if a promotion has something to do now, else 0 · delivered: how many messages are left
local how, w = ARGV[1], ARGV[2] or ''
if #w ~= 16 or string.find(w, '%W') then return redis.error_reply('ERRAND the workflow must be 16 letters and digits') end
local at = key('workflow:' .. w)
local state = call('HGET', at, 'state')
local UNKNOWN = 'ERRAND the workflow is not known any more: it was deleted, or its push took more than 10 minutes; push it again'
local MOST_MEMBERS = 100000

local function begin()
  local is_new = call('HLEN', key('counters')) == 0 and call('EXISTS', key('runtime')) == 0 and 1 or 0
  if state then return { is_new, state == 'unsealed' and 'begun' or 'sealed', '' } end
  local holder = ARGV[5] ~= 'i' and call('HGET', key('workflow:names'), ARGV[3])
  if holder and ARGV[5] == 'd' then return { is_new, 'dropped', holder } end
  call('HSET', at, 'state', 'unsealed', 'name', ARGV[3], 'json_name', ARGV[4], 'policy', ARGV[5], 'on_dead', ARGV[6], 'round', 1,
    'pushed', nowtext, 'on_success', ARGV[8] or '', 'on_failure', ARGV[9] or '')
  call('ZADD', key('workflows:unsealed'), whole(now + num(ARGV[7])), w)
  return { is_new, holder and 'replaces' or 'begun', holder or '' }
end

local FIRST, VALUES = 6, 6
-- Why a running job may not add jobs; nil if it may.
local function refusal_of_claim()
  local id, token, session = ARGV[3], ARGV[4], ARGV[5]
  if id == '' then return nil end
  if token == '' then
    local n = call('HGET', key('numbers:' .. w), id)
    if not n or call('SISMEMBER', key('open:' .. w), n) == 0 then return 'the workflow has ended, or the job is not one of its jobs, so none can be added' end
    return nil
  end
  local claim = try('HGET', claims_key(session), id) or ''
  if string.sub(claim, 1, #token + 1) ~= token .. ':' then return "the job does not belong to this worker any more, so it adds no jobs to its workflow; its next run does" end
  local has_place = string.find((field('workflow:of', id) or ''), w .. ':', 1, true)
  if not has_place or call('HEXISTS', at, 'ended') == 1 then return 'the workflow has ended, or the job is not one of its jobs, so none can be added' end
end
-- Whether a job comes after others that the workflow does not have yet: `known` jobs before this call, `new` ones before it
-- in this call, in which it has a place.
local function comes_after_missing(needs, number, known, new, place)
  for added, need in string.gmatch(needs, '[saf](%+?)(%d+)') do
    if added == '+' then
      if num(need) >= place then return true end
    elseif num(need) >= known + new or need == number then return true end
  end
end
local function refusal_of_jobs()
  local jobs, new, known = (#ARGV - FIRST + 1) / VALUES, 0, call('HLEN', key('members:' .. w))
  if jobs < 1 or jobs > 1000 or jobs ~= math.floor(jobs) then return 'add takes 1 to 1000 jobs of 6 values each' end
  for i = FIRST, #ARGV, VALUES do
    local number = call('HGET', key('numbers:' .. w), ARGV[i])
    if comes_after_missing(ARGV[i + 4], number, known, new, (i - FIRST) / VALUES) then
      return 'the job "' .. ARGV[i + 1] .. '" comes after one that the workflow does not have yet; add that one first'
    end
    if not number then new = new + 1 end
    local of_key = call('HGET', key('keys:' .. w), ARGV[i + 1])
    if of_key and number ~= of_key then return 'the workflow has another job of the key "' .. ARGV[i + 1] .. '"; use another key' end
  end
  if known + new > MOST_MEMBERS then return 'a workflow has at most ' .. MOST_MEMBERS .. ' jobs; split it' end
  local waiting, most = call('HLEN', key('body')), setting('maximum', 10000000)
  if waiting + new > most then
    return 'queue "' .. queue .. '" is full: it holds ' .. waiting .. ', its limit is ' .. whole(most) .. '; wait, or raise the limit with errand queue limit '
      .. queue, 'ERRANDFULL 0 '
  end
end

-- Stores the needs of a member that it does not have yet, and it as a dependant of each. Returns its record with them, and
-- how many needs the call has.
local function add_needs(n, record, needs, base)
  local mine, new, count_of_call = {}, {}, 0
  for condition, added, number in string.gmatch(needs, '([saf])(%+?)(%d+)') do
    number = added == '+' and whole(base + num(number)) or number
    -- A member may have many needs from other calls, so nothing looks at all of them.
    if call('ZADD', key('dependants:' .. w), 'NX', 0, number .. '>' .. condition .. '>' .. n) == 1 then
      new[#new + 1] = ' ' .. condition .. number
      mine[#mine + 1], mine[#mine + 2] = 0, n .. '>' .. number
    end
    count_of_call = count_of_call + 1
  end
  each_portion(mine, 1000, 'ZADD', key('needs:' .. w))
  return record .. table.concat(new), count_of_call
end

-- What of its needs has ended before the member was added.
local function look_at_ended(record)
  for number in string.gmatch(record, ' [saf](%d+)') do
    local ends = call('HGET', key('ends:' .. w), number)
    if call('SISMEMBER', key('dead:' .. w), number) == 1 then workflows.note(w, number, 'h')
    elseif ends then workflows.note(w, number, string.sub(ends, 1, 1))
    -- It was dead when the workflow was stopped.
    elseif call('SISMEMBER', key('open:' .. w), number) == 0 then workflows.note(w, number, 'c') end
  end
end

-- What is to be written of members: a list of values for each key; and the ids of those members.
local pending, gathered, count_of_members = {}, {}, 0
local function gather(command, at, one, other)
  local values = pending[at] or { command = command }
  pending[at] = values
  values[#values + 1] = one
  values[#values + 1] = other
end
local function write_members()
  for at, values in pairs(pending) do each_portion(values, 1000, values.command, at) end
  pending, gathered = {}, {}
end
local function gather_member(n, id, member_key, place, envelope)
  gather('HSET', key('numbers:' .. w), id, n)
  gather('HSET', key('keys:' .. w), member_key, n)
  if id ~= w .. '-' .. n then gather('HSET', key('jobs:' .. w), n, id) end
  gather('SADD', key('open:' .. w), n)
  gather('HSET', key('body'), id, stamp .. envelope)
  gather('HSET', key('blocked:jobs'), id, place)
  gather('ZADD', key('blocked:order'), 0, id)
  gather('HSET', key('workflow:of'), id, w .. ':' .. n)
  known['workflow:of'] = true
end

local function add_member(i, base)
  local id, member_key, place, needs, envelope = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 4], ARGV[i + 5]
  if gathered[id] then write_members() end
  local known_number = call('HGET', key('numbers:' .. w), id)
  if known_number and state ~= 'unsealed' then return num(known_number) end
  local n = known_number or whole(count_of_members)
  local elsewhere = string.match(place, '^%d+ [^ @]*(@[^ ]*)') or ''
  local record = known_number and call('HGET', key('members:' .. w), n) or member_key .. elsewhere
  local needed
  record, needed = add_needs(n, record, needs, base)
  gather('HSET', key('members:' .. w), n, record)
  gathered[id] = true
  if known_number then return num(n) end
  count_of_members = count_of_members + 1
  gather_member(n, id, member_key, place, envelope)
  if elsewhere == '' then count('pushed') end
  if needed == 0 then
    gather('ZADD', key('needs:' .. w), 0, n .. '>r')
    gather('ZADD', key('dependants:' .. w), 0, 'r>s>' .. n)
  end
  if state ~= 'unsealed' then
    write_members()
    if needed == 0 then workflows.note(w, 'r', 'f') else look_at_ended(record) end
  end
  return num(n)
end
local function add()
  if not state then return redis.error_reply(UNKNOWN) end
  local what, code = refusal_of_claim()
  if not what and (state == 'unsealed' or ARGV[3] ~= '') then what, code = refusal_of_jobs() end
  if what then return redis.error_reply((code or 'ERRAND ') .. what) end
  local numbers, base = {}, call('HLEN', key('members:' .. w))
  count_of_members = base
  for i = FIRST, #ARGV, VALUES do
    numbers[#numbers + 1] = (state == 'unsealed' or ARGV[3] ~= '') and add_member(i, base) or num(ARGV[i + 3])
  end
  write_members()
  return numbers
end

-- A job of another queue's workflow, which a promotion admits. One that has arrived before is not pushed again.
local function arrive()
  local n, home, id, place, envelope = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
  if call('HEXISTS', key('body'), id) == 1 or field('ended', id) or field('ended:old', id) then return 0 end
  call('HSET', key('body'), id, stamp .. envelope)
  call('HSET', key('blocked:jobs'), id, place)
  call('ZADD', key('blocked:order'), 0, id)
  -- A workflow's callback has no number.
  if n ~= '-' then set_field('workflow:of', id, w .. ':' .. n .. ':' .. home) end
  call('RPUSH', key('blocked:released'), id)
  return 1
end
-- Messages about one job may come twice, and in another order, because several workers deliver them.
local function ended()
  local n, number, kind, value = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
  if not state or num(call('HGET', key('hops:' .. w), n)) >= num(number) then return 0 end
  call('HSET', key('hops:' .. w), n, number)
  if kind == 'd' then workflows.member_died(w, n)
  elseif kind == 'u' then workflows.member_retried(w, n)
  elseif kind == 'r' then workflows.move_member(w, n, value)
  else workflows.end_member(w, n, kind, value) end
  workflows.continue()
  return workflows.is_busy and workflows.has_more() and 1 or 0
end
local function delivered()
  while true do
    local number = num(string.match(call('LINDEX', key('workflow:hops'), 0) or '', '^%d+'))
    if number == 0 or number > num(ARGV[3]) then break end
    call('LPOP', key('workflow:hops'))
  end
  return call('LLEN', key('workflow:hops'))
end

-- Goes on with the jobs that have ended before the seal, in their order.
local function note_ended()
  local ends, numbers = call('HGETALL', key('ends:' .. w)), {}
  for i = 1, #ends, 2 do numbers[#numbers + 1] = { n = ends[i], how = string.sub(ends[i + 1], 1, 1) } end
  table.sort(numbers, function(one, other) return num(one.n) < num(other.n) end)
  for _, ended in ipairs(numbers) do workflows.note(w, ended.n, ended.how) end
end
local function seal()
  if not state then return redis.error_reply(UNKNOWN) end
  if state ~= 'unsealed' then return { 'sealed', '' } end
  local header = call('HMGET', at, 'policy', 'name')
  local holder = header[1] ~= 'i' and call('HGET', key('workflow:names'), header[2])
  if holder and header[1] == 'd' then return { 'dropped', holder } end
  if holder then workflows.stop(holder) end
  if header[1] ~= 'i' then call('HSET', key('workflow:names'), header[2], w) end
  call('HSET', at, 'state', 'running')
  call('ZREM', key('workflows:unsealed'), w)
  call('ZADD', key('workflows'), nowtext, w)
  workflows.note(w, 'r', 'f')
  note_ended()
  return { holder and 'replaced' or 'sealed', holder or '' }
end

local reply
if how == 'begin' then reply = begin()
elseif how == 'add' then reply = add()
elseif how == 'seal' then reply = seal()
elseif how == 'cancel' then reply = workflows.stop(w) and 1 or 0
elseif how == 'forget' then
  local looked, has_more = workflows.forget(w, 250)
  reply = { looked, has_more and 1 or 0 }
elseif how == 'arrive' then reply = arrive()
elseif how == 'ended' then reply = ended()
elseif how == 'delivered' then reply = delivered()
else reply = redis.error_reply('ERRAND the action must be begin, add, seal, cancel, forget, arrive, ended or delivered') end
flush()
return reply
