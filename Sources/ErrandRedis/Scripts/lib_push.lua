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
