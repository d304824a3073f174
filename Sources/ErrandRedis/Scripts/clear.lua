-- clear: cancels waiting jobs, a bounded number at a time.
--
-- ARGV     how many at the most
-- Answer   how many were cancelled, and 1 when more may be left
local limit = math.min(num(ARGV[1]), 500)
local cleared, looked = 0, 0

local function cancel(id)
  local body = call('HGET', Q .. ':body', id)
  if not body then return end
  local _, _, _, fragment = header(body)
  local line = event('cancelled', id, fragment or NAMELESS, num(field('failures', id)), 'null', 0, 'null')
  count('cancelled')
  end_job(id, 'c', line)
  cleared = cleared + 1
end

local function cancel_entry(entry)
  local tombs = num(field('gone', entry))
  if tombs > 1 then return put('gone', entry, tombs - 1) end
  if tombs == 1 then return drop('gone', entry) end
  local owner = field('stand', entry)
  if owner then
    drop('stand', entry)
    drop('place', owner)
  end
  cancel(owner or entry)
end

local lines_of = { Q .. ':suspects' }
for level = 9, 0, -1 do lines_of[#lines_of + 1] = Q .. ':ready:' .. level end
for _, operation in ipairs(call('HKEYS', Q .. ':parked')) do
  lines_of[#lines_of + 1] = Q .. ':parked:' .. operation
end
for _, line in ipairs(lines_of) do
  if looked < limit then
    local entries = call('LPOP', line, limit - looked) or {}
    looked = looked + #entries
    for _, entry in ipairs(entries) do cancel_entry(entry) end
  end
end
for _, operation in ipairs(call('HKEYS', Q .. ':parked')) do
  local left = call('LLEN', Q .. ':parked:' .. operation)
  if left > 0 then put('parked', operation, left) else call('HDEL', Q .. ':parked', operation) end
end
for _, name in ipairs({ 'scheduled', 'retrying' }) do
  if looked < limit then
    local popped = call('ZPOPMIN', Q .. ':' .. name, limit - looked)
    for i = 1, #popped, 2 do
      looked = looked + 1
      cancel(popped[i])
    end
  end
end
settle()
return { cleared, looked >= limit and 1 or 0 }
