-- revive: puts dead jobs back in line with fresh attempts, when their name is free, and jobs that wait for their time as they are.
--
-- ARGV     id and name ('' without) of each job; the caller read the name from the body
-- Answer   one text a job: revived, hurried, not_dead, not_found, taken:HOLDER
local function hurry(id, body)
  for _, name in ipairs({ 'scheduled', 'retrying' }) do
    if call('ZSCORE', Q .. ':' .. name, id) then
      line_up(id, body, 0)
      call('ZREM', Q .. ':' .. name, id)
      return 'hurried'
    end
  end
  return 'not_dead'
end

local function revive(id, name)
  local body = call('HGET', Q .. ':body', id)
  if not body then return 'not_found' end
  if not call('ZSCORE', Q .. ':dead', id) then return hurry(id, body) end
  if name ~= '' then
    local holder = call('HGET', Q .. ':names', name)
    if holder and call('HEXISTS', Q .. ':body', holder) == 1 and field('named', holder) == name then return 'taken:' .. holder end
    put('named', id, name)
    put('names', name, id)
  end
  forget_runs(id)
  line_up(id, body, 0)
  call('ZREM', Q .. ':dead', id)
  return 'revived'
end

local answer = {}
for i = 1, #ARGV, 2 do answer[#answer + 1] = revive(ARGV[i], ARGV[i + 1]) end
settle()
return answer
