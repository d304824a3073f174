-- Jobs that replace a waiting one of their name, or wait for the end of the one that runs.

-- The holders of the names of a call, the names of these holders, their entries in the ready lists, and the jobs that have these
-- entries. They are read together before the first job.
local former_holders, former_names, former_entries, former_aliases = {}, {}, {}, {}

local function event_of(kind, id, fragment) return event(kind, id, fragment, 0, 'null', 0, 'null') end

-- Ends the job that another one replaces.
local function end_replaced(holder, fragment, newer)
  local line = event_of('replaced', holder, fragment or NAMELESS)
  count('replaced')
  history.keep(holder, 'r', line)
  remember(holder, 'r')
  replaced[#replaced + 1] = holder
  if not (has('blocked') or has('workflow:of')) then return end
  -- Groups and workflows go on with what is stored.
  write_gathered()
  if has('workflow:of') then workflows.ended(holder, 'r', nil, newer) end
end

-- Whether a waiting job is in the list of unroutable jobs of its operation.
local function is_unroutable(id, body)
  if not has('unroutable') then return false end
  local _, _, _, fragment = header(body)
  local operation = string.match(fragment or '', '^"operation":"([%w_.-]+)"')
  local group = operation and unroutable_field(operation, body)
  if not group or not field('unroutable', group) then return false end
  -- Whether the corrupt list has the job is unknown. At the end of its own ready list the new job is certainly found.
  if wrong_type('unroutable:' .. group, 'list') then return true end
  -- A long list is not searched: the new job then goes to the end of its ready list.
  return call('LLEN', key('unroutable:' .. group)) > 1000 or call('LPOS', key('unroutable:' .. group), entry_of(id))
end

local function score_of(set, id) return has(set) and call('ZSCORE', key(set), id) end

-- Adds a job in the position of the waiting one that it replaces.
local function gather_at(entry, id, body)
  local n = #bodies
  bodies[n + 1], bodies[n + 2] = id, body
  seen[id] = true
  former_aliases[entry] = id
  n = #aliases
  aliases[n + 1], aliases[n + 2] = entry, id
  aliases_of[n + 1], aliases_of[n + 2] = id, entry
end
local function replace_waiting(holder, old, id, name, envelope, due)
  local zset = (score_of('scheduled', holder) and 'scheduled') or (score_of('retrying', holder) and 'retrying')
  local entry, priority, _, _, fragment, _, _, group = former_entries[holder] or entry_of(holder), header(old)
  local keeps_position = not zset and is_due(due) and list_with(priority, group) == list_name(envelope)
    and not is_unroutable(holder, old) and num(field('crashes', holder)) < QUARANTINE_AFTER
    and (former_aliases[entry] or field('alias', entry) or holder) == holder
  if keeps_position then
    gather_at(entry, id, (priority and string.sub(old, 1, 13) or stamp) .. envelope)
  else
    gather(id, envelope, due)
    write_gathered()
    if zset then call('ZREM', key(zset), holder) else moves.remove_from_ready(holder, old) end
  end
  gather_name(id, name)
  end_replaced(holder, fragment, id)
end

local function defer(holder, id, name, envelope, due)
  local old = successor_of(holder)
  call('HSET', key('body'), id, stamp .. envelope)
  seen[id] = true
  set_field('unique:of', id, name)
  set_field('successors', holder, whole(num(due)) .. ':' .. id)
  if not old then return end
  local _, _, _, fragment = header(call('HGET', key('body'), old))
  end_replaced(old, fragment, id)
end
