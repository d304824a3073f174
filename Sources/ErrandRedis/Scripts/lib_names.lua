-- Unique names, and the successors that wait for their holders. A push takes a name in lib_push.lua. The hash `unique` has
-- the id of the job that holds each name.

-- Makes a successor ready, or schedules it, and renews its stamp. It goes to the head of its ready list if the holder
-- was there or would have returned there. The head of an ordered group belongs to the job for which the group waits, so
-- only that job's successor takes it.
local function activate_successor(id, body, due, at_head, holder)
  if due > now or not at_head then return moves.enqueue(id, body, due) end
  local priority, _, _, _, _, _, group = header(body)
  if group and rule_of(group).is_ordered and field('blocked', group) ~= holder then return moves.enqueue(id, body, due) end
  if priority then call('HSET', key('body'), id, stamp .. string.sub(body, 14)) end
  moves.requeue(id, body)
end

-- Frees the name of a job, or passes it to the successor, which then becomes ready or scheduled.
local function free_name(id, at_head)
  local name, successor_entry = field('unique:of', id), field('successors', id)
  -- Without a name there is neither a holder nor a successor, unless a key was lost.
  if not (name or successor_entry) then return delete_field('running', id) end
  local due, successor = string.match(successor_entry or '', '^(%d+):(.+)$')
  local body = successor and call('HGET', key('body'), successor)
  if body then
    if name then call('HSET', key('unique'), name, successor) end
    activate_successor(successor, body, num(due), at_head, id)
  elseif name and call('HGET', key('unique'), name) == id then
    call('HDEL', key('unique'), name)
  end
  delete_field('successors', id)
  delete_field('running', id)
  delete_field('unique:of', id)
  delete_field('debounced', id)
end

local function successor_of(id)
  local successor_entry = field('successors', id)
  return successor_entry and string.match(successor_entry, '^%d+:(.+)$')
end

-- Detaches a successor from its holder, and withdraws its request to stop if the holder has not received it yet.
local function detach_successor(holder)
  delete_field('successors', holder)
  if field('stops', holder) == 'replace' then delete_field('stops', holder) end
end
