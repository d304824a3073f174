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
