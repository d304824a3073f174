-- flow: sets, deletes and lists the rules for the groups of a queue, and shows groups. Setting a rule creates the queue.
--
-- Arguments  set, pattern, rule · delete, pattern · list · show, group ('' for those with the most jobs), most groups
-- Reply      set, delete: 1 if the rule existed before, else 0 · list: pattern and rule of each · show: for each group
--            its name, waiting jobs, claims, and the most claims at once (0: no limit)
local how, subject, text = ARGV[1], ARGV[2] or '', ARGV[3] or ''
local MOST_RULES, MOST_LOOKED = 1000, 20000
-- The largest value of each word of a rule.
local MOST = { at_once = 1000000, weight = 1000 }

local function problem()
  local first, second = parts_of(subject)
  for _, part in ipairs({ first, second or first }) do
    if #part > 64 or not string.find(part, '^[%w_.:@+*-]+$') then
      return 'a pattern is one or two parts with a slash between, of [A-Za-z0-9_.:@+*-]{1,64} each'
    end
  end
  for word in string.gmatch(how == 'set' and text or '', '%S+') do
    local name, value = string.match(word, '^([%l_]+)=(%d+)$')
    if not MOST[name or ''] then return 'a rule has the words at_once=N and weight=N' end
    if num(value) < 1 or num(value) > MOST[name] then return name .. ' of a rule must be 1 to ' .. MOST[name] end
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
if how == 'set' then
  local other = tied()
  if other then
    return redis.error_reply('ERRAND the patterns "' .. subject .. '" and "' .. other
      .. '" begin with the same characters before *, so it would be unclear which rule applies; delete one, or make one longer')
  end
  local known_before = field('flow', subject)
  if not known_before and has('flow') and call('HLEN', key('flow')) >= MOST_RULES then
    return redis.error_reply('ERRANDFULL the queue has ' .. MOST_RULES .. ' rules, which is the limit; use patterns with *')
  end
  if call('HLEN', key('runtime')) == 0 then call('HSET', key('runtime'), 'created', nowtext) end
  set_field('flow', subject, text)
  reconsider('0')
  flush()
  return known_before and 1 or 0
end
if how == 'delete' then
  local known_before = field('flow', subject)
  delete_field('flow', subject)
  known = {}
  reconsider('0')
  flush()
  return known_before and 1 or 0
end
if how == 'list' then return has('flow') and call('HGETALL', key('flow')) or {} end
if how ~= 'show' then return redis.error_reply('ERRAND the action must be set, delete, list or show') end

local waiting, running, names, listed = {}, {}, {}, {}
local function add(counts, group, n)
  for _, part in ipairs(limited(group)) do
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
    local group = group_of_claim(claim)
    if group then add(running, group, 1) end
  end
end
local reply = {}
local function show(group)
  local held = try('SCARD', key('held:' .. group)) or 0
  for _, value in ipairs({ group, waiting[group] or 0, held, most_at_once(group) or 0 }) do reply[#reply + 1] = value end
end
if subject ~= '' then
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
