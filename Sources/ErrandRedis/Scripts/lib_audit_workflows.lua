-- Steps of workflows: whatever waits has something to wait for, and nothing is open that has ended.

-- Blocked jobs: each has a body, and waits for the seal of its workflow, for a job that has not ended, or for a promotion.
-- Lists the ids.
local function waits_for(w, n, id)
  local state = call('HGET', key('workflow:' .. w), 'state')
  if state == 'unsealed' then return true end
  local needs = try('ZRANGEBYLEX', key('needs:' .. w), '[' .. n .. '>', '(' .. n .. '?', 'LIMIT', 0, 1) or {}
  return state and #needs > 0
end
local function is_released(id) return has('blocked:released') and call('LPOS', key('blocked:released'), id) end
function steps.blocked_jobs()
  each_field('blocked:jobs', function(id)
    if not has_field('body', id) then
      finding('position_without_body', id, function() workflows.take_blocked(id) end)
      return
    end
    add(id)
    if call('ZSCORE', key('blocked:order'), id) == false then
      finding('blocked_without_order', id, function() call('ZADD', key('blocked:order'), 0, id) end)
    end
    -- As long as calls still go on with what has ended, nothing is certain.
    if has('workflow:work') or is_released(id) then return end
    local w, n = string.match(field('workflow:of', id) or '', '(%w+):(%d+)')
    if w and waits_for(w, n, id) then return end
    finding('blocked_without_need', id, function() call('RPUSH', key('blocked:released'), id) end)
  end)
end

-- Workflows that have been sealed. Lists those that have not ended.
function steps.workflows()
  if not has('workflows') then return end
  local page = scan('ZSCAN', key('workflows'))
  for i = 1, #page, 2 do
    local w = page[i]
    local header = call('HMGET', key('workflow:' .. w), 'state', 'ended')
    if not header[1] then finding('workflow_without_header', w, function() call('ZREM', key('workflows'), w) end)
    elseif not header[2] then add(w) end
  end
end

-- The open jobs of a workflow. One without a body here, and of no other queue, has ended. Lists number, id and queue of those
-- that other queues must have.
function steps.open_jobs()
  if has('workflow:work') then return end
  local page = scan('SSCAN', key('open:' .. name))
  for _, n in ipairs(page) do
    local id = workflows.job_of(name, n)
    local record = call('HGET', key('members:' .. name), n) or ''
    local elsewhere = string.match(record, '^[^ @]+@(%S+)')
    if not has_field('body', id) then
      if not elsewhere then finding('open_job_has_ended', id, function() workflows.end_member(name, n, has_ended(id) or 'x') end)
      elseif not has('workflow:hops') then add(n, id, elsewhere) end
    end
  end
  if call('SCARD', key('open:' .. name)) == 0 then
    finding('workflow_without_end', name, function() workflows.changed[name] = true end)
  end
end
-- A job that another queue does not have, or that has ended there. Nothing is on its way to this queue.
function steps.lost_job()
  local n, id, how = ARGV[4], ARGV[5], ARGV[6]
  if has('workflow:hops') or call('SISMEMBER', key('open:' .. name), n) == 0 or workflows.job_of(name, n) ~= id then return end
  finding('open_job_lost', id, function() workflows.end_member(name, n, how) end)
end
-- The needs of a workflow's jobs. Each is for one that has not ended.
function steps.needs()
  if has('workflow:work') then return end
  local page = scan('ZSCAN', key('needs:' .. name))
  for i = 1, #page, 2 do
    local dependency = string.match(page[i], '>(%d+)$')
    local ends = dependency and call('HGET', key('ends:' .. name), dependency)
    if ends then
      finding('need_has_ended', name .. ' ' .. page[i], function() workflows.note(name, dependency, string.sub(ends, 1, 1)) end)
    end
  end
end

-- What other queues are to be told, and pushes that were broken off. Workers of this queue see to both within seconds.
local LATE_MS = 60000
function steps.messages()
  local oldest = has('workflow:hops') and call('LINDEX', key('workflow:hops'), 0)
  local made = oldest and num(string.match(oldest, '^%d+'))
  if made and now - made > LATE_MS then finding('message_not_delivered', whole(call('LLEN', key('workflow:hops'))) .. ' for other queues') end
  local unsealed = try('ZRANGEBYSCORE', key('workflows:unsealed'), '-inf', whole(now - LATE_MS), 'LIMIT', 0, 100) or {}
  for _, w in ipairs(unsealed) do finding('workflow_not_sealed', w) end
end
