-- retry: makes dead jobs ready again with fresh attempts, if their names are free, and makes scheduled and retrying
-- jobs ready now.
--
-- Arguments  id and name ('' for none) of each job; the caller has read the name from the body
-- Reply      one text a job: retried, hurried, not_dead, not_found, taken:HOLDER; then `more` if a promotion has to go on
--            with workflows
local function hurry(id, body)
  for _, name in ipairs({ 'scheduled', 'retrying' }) do
    if call('ZSCORE', key(name), id) then
      moves.enqueue(id, body, 0)
      call('ZREM', key(name), id)
      return 'hurried'
    end
  end
  return 'not_dead'
end

local function retry(id, name)
  local body = call('HGET', key('body'), id)
  if not body then return 'not_found' end
  if not call('ZSCORE', key('dead'), id) then return hurry(id, body) end
  if name ~= '' then
    local holder = call('HGET', key('unique'), name)
    if holder and call('HEXISTS', key('body'), holder) == 1 and field('unique:of', holder) == name then return 'taken:' .. holder end
    set_field('unique:of', id, name)
    set_field('unique', name, id)
  end
  endings.forget_runs(id)
  workflows.retried(id)
  moves.enqueue(id, body, 0)
  call('ZREM', key('dead'), id)
  return 'retried'
end

local reply = {}
for i = 1, #ARGV, 2 do reply[#reply + 1] = retry(ARGV[i], ARGV[i + 1]) end
flush()
if workflows.is_busy and workflows.has_more() then reply[#reply + 1] = 'more' end
return reply
