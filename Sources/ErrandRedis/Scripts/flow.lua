-- flow: sets, deletes and lists the rules for the groups of a queue, and shows groups. Setting a rule creates the queue.
--
-- Arguments  set, pattern, rule · delete, pattern · list · show, group (* for those with the most jobs, '' for the
--            whole queue), most groups
-- Reply      set, delete: 1 if the rule existed before, else 0 · list: pattern and rule of each · show: for each group
--            its name, waiting jobs, claims, the most claims at once (0: no limit), until when it rests (ms; 0: it does
--            not), 1 if its rate is the reason, and the job that an ordered group waits for
local how, subject, text = ARGV[1], ARGV[2] or '', ARGV[3] or ''
local MOST_RULES, MOST_LOOKED = 1000, 20000
-- The largest value of each word of a rule.
local MOST = {
  at_once = 1000000, weight = 1000, burst = 1000000, ordered = 1, skip_dead = 1, by_time = 1, max_waiting = 10000000,
}
-- The largest number of starts, and of milliseconds, of a rate.
local MOST_STARTS, MOST_WINDOW = 1000000, 2592000000

local function problem_of_word(word)
  local starts, window = string.match(word, '^rate=(%d+)/(%d+)$')
  if starts then
    if num(starts) >= 1 and num(starts) <= MOST_STARTS and num(window) >= 1 and num(window) <= MOST_WINDOW then return end
    return 'a rate must be 1 to ' .. MOST_STARTS .. ' starts in 1 to ' .. MOST_WINDOW .. ' ms'
  end
  local name, value = string.match(word, '^([%l_]+)=(%d+)$')
  if not MOST[name or ''] then return 'a rule has the words at_once=N, weight=N, rate=N/MS, burst=N, ordered=1, skip_dead=1, by_time=1 and max_waiting=N' end
  if subject == WHOLE_QUEUE and (name == 'weight' or name == 'ordered') then return 'a rule for the whole queue cannot have ' .. (name == 'weight' and 'a weight' or 'an order') .. '; name groups in the pattern, such as tenant-*' end
  if subject == WHOLE_QUEUE and name == 'max_waiting' then return 'a rule for the whole queue cannot limit waiting jobs; limit the queue with errand queue limit' end
  if subject ~= WHOLE_QUEUE and name == 'by_time' then return 'shares by run time are set for the whole queue only; leave the pattern empty' end
  if num(value) < 1 or num(value) > MOST[name] then return name .. ' of a rule must be 1 to ' .. MOST[name] end
end

local function problem()
  local first, second = parts_of(subject)
  for _, part in ipairs(subject == WHOLE_QUEUE and {} or { first, second or first }) do
    if #part > 64 or not string.find(part, '^[%w_.:@+*-]+$') then
      return 'this is not a pattern: write one or two parts with a slash between, of [A-Za-z0-9_.:@+*-]{1,64} each, or nothing for the whole queue'
    end
  end
  for word in string.gmatch(how == 'set' and text or '', '%S+') do
    local what = problem_of_word(word)
    if what then return what end
  end
end

-- Another pattern with as long a literal prefix, so that it would be unclear which rule applies.
local function tied()
  local prefix = string.match(subject, '^[^*]*')
  for _, other in ipairs(has('flow') and call('HKEYS', key('flow')) or {}) do
    local same = string.match(other, '^[^*]*') == prefix and (other == prefix) == (subject == prefix)
    if same and other ~= subject and (string.find(other, '/') == nil) == (string.find(subject, '/') == nil) then return other end
  end
end

if how == 'set' or how == 'delete' then
  local what = problem()
  if what then return redis.error_reply('ERRAND ' .. what) end
end
-- Gives slots to the claimed jobs of groups whose claims are limited now, and to no others.
local function restore_slots()
  for _, session in ipairs(call('ZRANGE', key('sessions'), 0, -1)) do
    local flat = try('HGETALL', claims_key(session)) or {}
    for i = 1, #flat, 2 do
      local group = groups.of_claim(flat[i + 1])
      for _, part in ipairs(group and groups.limited(group) or {}) do
        try(rule_of(part).at_once and 'SADD' or 'SREM', key('held:' .. part), flat[i])
      end
    end
  end
end

if how == 'set' then
  local other = tied()
  if other then
    return redis.error_reply('ERRAND the patterns "' .. subject .. '" and "' .. other
      .. '" begin with the same characters before *, so it would be unclear which rule applies; delete one, or write more characters before the * of one')
  end
  local known_before = field('flow', subject)
  if not known_before and has('flow') and call('HLEN', key('flow')) >= MOST_RULES then
    return redis.error_reply('ERRANDFULL the queue has ' .. MOST_RULES .. ' rules, which is the limit; replace some with a pattern, such as tenant-*')
  end
  if call('HLEN', key('runtime')) == 0 then call('HSET', key('runtime'), 'created', nowtext) end
  set_field('flow', subject, text)
  restore_slots()
  groups.reconsider('0')
  flush()
  return known_before and 1 or 0
end
if how == 'delete' then
  local known_before = field('flow', subject)
  delete_field('flow', subject)
  known = {}
  restore_slots()
  groups.reconsider('0')
  flush()
  return known_before and 1 or 0
end
if how == 'list' then return has('flow') and call('HGETALL', key('flow')) or {} end
if how ~= 'show' then return redis.error_reply('ERRAND the action must be set, delete, list or show') end

local waiting, running, names, listed = {}, {}, {}, {}
local function add(counts, group, n)
  for _, part in ipairs(groups.limited(group)) do
    counts[part] = (counts[part] or 0) + n
    -- Only groups with jobs of their own are listed; the first part of one is counted as well.
    if part == group and not listed[part] then
      listed[part] = true
      names[#names + 1] = part
    end
  end
end
local flat = has('backlog') and call('ZREVRANGE', key('backlog'), 0, MOST_LOOKED - 1, 'WITHSCORES') or {}
for i = 1, #flat, 2 do
  local _, group = parse_list('group:' .. flat[i])
  if group then add(waiting, group, num(flat[i + 1])) end
end
for _, session in ipairs(call('ZRANGE', key('sessions'), 0, 199)) do
  for _, claim in ipairs(call('HVALS', claims_key(session))) do
    local group = groups.of_claim(claim)
    if group then add(running, group, 1) end
  end
end
local reply = {}
local function show(group)
  local held = group == WHOLE_QUEUE and groups.count_claims() or rule_of(group).at_once and try('SCARD', key('held:' .. group)) or running[group] or 0
  local rests_until, by_rate = rates.rests_until(group)
  for _, value in ipairs({ group, waiting[group] or 0, held, rule_of(group).at_once or 0, rests_until, by_rate and 1 or 0 }) do
    reply[#reply + 1] = value
  end
  reply[#reply + 1] = rule_of(group).is_ordered and field('blocked', group) or ''
end
if subject ~= '*' then
  show(subject)
  return reply
end
table.sort(names, function(one, other)
  local a, b = waiting[one] or 0, waiting[other] or 0
  if a ~= b then return a > b end
  local c, d = running[one] or 0, running[other] or 0
  if c ~= d then return c > d end
  return one < other
end)
for i = 1, math.min(#names, num(text)) do show(names[i]) end
return reply
