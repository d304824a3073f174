-- promote: puts jobs in line whose time has come.
--
-- ARGV     how many at the most, of each kind
-- Answer   how many, and in how many ms the next one is due (0: more are due now; -1: none is scheduled)
local limit = math.min(num(ARGV[1]), 500)
local promoted, next_due = 0, -1
for _, name in ipairs({ 'scheduled', 'retrying' }) do
  local key = Q .. ':' .. name
  local due = has(name) and call('ZRANGEBYSCORE', key, '-inf', nowtext, 'LIMIT', 0, limit) or {}
  if #due > 0 then
    local bodies = call('HMGET', Q .. ':body', unpack(due))
    for i, id in ipairs(due) do
      if bodies[i] then line_up(id, bodies[i], 0) else bury(id) end
    end
    call('ZREM', key, unpack(due))
    promoted = promoted + #due
  end
  local head = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  local at = tonumber(head[2] or '')
  if at and at < 9e15 then
    local wait = math.max(math.floor(at) - now, 0)
    if next_due < 0 or wait < next_due then next_due = wait end
  end
end
settle()
return { promoted, next_due }
