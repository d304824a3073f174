-- clear: cancels waiting jobs, a bounded number a call.
--
-- Arguments  the largest number of jobs
-- Reply      how many were cancelled, 1 if more may be left, and 1 if a promotion has to go on with workflows
local limit = math.min(num(ARGV[1]), 500)
-- Entries are popped a few at a time, because their bodies may be large.
local PORTION = 32
local cleared, looked = 0, 0
local function is_enough() return looked >= limit or room <= 0 end

local function cancel(id)
  local body = call('HGET', key('body'), id)
  if not body then return end
  room = room - #body
  local _, _, _, fragment = header(body)
  local line = event('cancelled', id, fragment or NAMELESS, num(field('failures', id)), 'null', 0, 'null')
  count('cancelled')
  endings.end_job(id, 'c', line)
  cleared = cleared + 1
end

local function cancel_entry(entry)
  local tombs = num(field('tombstones', entry))
  if tombs > 1 then return set_field('tombstones', entry, tombs - 1) end
  if tombs == 1 then return delete_field('tombstones', entry) end
  local owner = field('alias', entry)
  if owner then
    delete_field('alias', entry)
    delete_field('alias:of', owner)
  end
  cancel(owner or entry)
end

-- Returns how many entries it has taken.
local function clear_list(list_key)
  local before = looked
  while not is_enough() do
    local entries = try('LPOP', list_key, math.min(PORTION, limit - looked))
    if not entries then break end
    looked = looked + #entries
    for _, entry in ipairs(entries) do cancel_entry(entry) end
  end
  return looked - before
end

clear_list(key('quarantined'))
for level = 9, 0, -1 do clear_list(key('ready:' .. level)) end
for _, member in ipairs(has('backlog') and call('ZREVRANGE', key('backlog'), 0, limit) or {}) do
  if is_enough() then break end
  local list_name = 'group:' .. member
  if parse_list(list_name) then
    groups.note_removed(list_name, clear_list(key(list_name)))
  else call('ZREM', key('backlog'), member) end
end
-- Looks at no more lists than jobs may be cleared: each holds at least one. The highest priority comes first, as above.
local unroutable = not is_enough() and call('HRANDFIELD', key('unroutable'), limit) or {}
table.sort(unroutable, function(one, other)
  local _, level = parse_unroutable_field(one)
  local _, other_level = parse_unroutable_field(other)
  if level ~= other_level then return level > other_level end
  return one < other
end)
for _, group in ipairs(unroutable) do
  local left = 0
  if not wrong_type('unroutable:' .. group, 'list') then
    clear_list(key('unroutable:' .. group))
    left = call('LLEN', key('unroutable:' .. group))
  end
  if left > 0 then set_field('unroutable', group, left) else call('HDEL', key('unroutable'), group) end
end
for _, name in ipairs({ 'scheduled', 'retrying' }) do
  while not is_enough() do
    local popped = call('ZPOPMIN', key(name), math.min(PORTION, limit - looked))
    if #popped == 0 then break end
    for i = 1, #popped, 2 do
      looked = looked + 1
      cancel(popped[i])
    end
  end
end
-- Clears successors in the order of their ids.
local function clear_successors()
  local waiting, flat = {}, not is_enough() and call('HRANDFIELD', key('successors'), limit - looked, 'WITHVALUES') or {}
  for i = 1, #flat, 2 do waiting[#waiting + 1] = { holder = flat[i], id = string.match(flat[i + 1], '^%d+:(.+)$') or '' } end
  table.sort(waiting, function(one, other) return one.id < other.id end)
  for _, successor in ipairs(waiting) do
    if is_enough() then return end
    looked = looked + 1
    detach_successor(successor.holder)
    cancel(successor.id)
  end
end
clear_successors()
-- Jobs of workflows that wait for others, in the order of their ids.
local blocked = not is_enough() and try('ZRANGEBYLEX', key('blocked:order'), '-', '+', 'LIMIT', 0, limit - looked) or {}
for _, id in ipairs(blocked) do
  looked = looked + 1
  workflows.take_blocked(id)
  cancel(id)
end
flush()
local has_more = is_enough() or call('EXISTS', key('unroutable'), key('backlog')) > 0
return { cleared, has_more and 1 or 0, workflows.is_busy and workflows.has_more() and 1 or 0 }
