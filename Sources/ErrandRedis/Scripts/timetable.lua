-- timetable: schedules as they are stored. Reads only.
--
-- ARGV     `due` or `all`, and how many to leave out; or `named`, and names
-- Answer   the server's time (ms), how many to leave out next time (-1: these were all), then of each:
--          name, definition ('' for none), next tick (`paused`; '' for none), `last:pushed:missed`, revision of the deleted one ('')
local names, from = {}, num(ARGV[2])
local answer = { nowtext, -1 }
if ARGV[1] == 'due' then names = call('ZRANGEBYSCORE', Q .. ':timetable', '-inf', nowtext, 'LIMIT', from, 100)
elseif ARGV[1] == 'all' then
  local every = call('HKEYS', Q .. ':schedules')
  table.sort(every)
  for i = from + 1, math.min(from + 100, #every) do names[#names + 1] = every[i] end
else
  for i = 2, math.min(#ARGV, 101) do names[#names + 1] = ARGV[i] end
end

local bytes = 0
for i, name in ipairs(names) do
  local definition = call('HGET', Q .. ':schedules', name) or ''
  bytes = bytes + #definition
  -- Large ones come in several calls.
  if bytes > 4194304 and i > 1 then
    answer[2] = from + i - 1
    return answer
  end
  local upcoming = call('ZSCORE', Q .. ':timetable', name)
  answer[#answer + 1] = name
  answer[#answer + 1] = definition
  answer[#answer + 1] = upcoming and whole(num(upcoming)) or (call('HEXISTS', Q .. ':pauses', name) == 1 and 'paused' or '')
  answer[#answer + 1] = call('HGET', Q .. ':ticks', name) or ''
  answer[#answer + 1] = revision_of_deleted(name)
end
if ARGV[1] ~= 'named' and #names == 100 then answer[2] = from + 100 end
return answer
