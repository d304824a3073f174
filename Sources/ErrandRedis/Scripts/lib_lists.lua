-- The lists of ready, quarantined and unroutable jobs: how a job enters and leaves them.
local QUARANTINE_AFTER = 3
-- The bytes of bodies that the script may still read: a call handles fewer jobs if they are large.
local room = 8388608

-- The entry of a job in a ready list: its own id, or that of the job that it replaced there.
local function entry_of(id) return field('alias:of', id) or id end

-- The entry of a job that is added. It is the id, or an alias while that text has another meaning: the position of a
-- job that has replaced an older one of this id, or a tombstone of an older one.
local function is_taken(entry) return field('alias', entry) or field('tombstones', entry) end
local function entry_for(id)
  if known.alias == false and known.tombstones == false or not is_taken(id) then return id end
  local entry, at = id .. ':' .. nowtext, now
  while is_taken(entry) do
    at = at + 1
    entry = id .. ':' .. whole(at)
  end
  set_field('alias', entry, id)
  set_field('alias:of', id, entry)
  return entry
end

local moves = {}
on_use(moves, function()
  -- Adds a job to its ready list with LPUSH or RPUSH, and wakes a session for it unless its group is full. A job for which
  -- its ordered group waits comes first. If the list of its group has a wrong type, the job waits among those without a
  -- group.
  function moves.add_to_list(command, id, body)
    local name = list_of(body)
    if has('blocked') and groups.unblock(id, body) then command = 'LPUSH' end
    local length = try(command, key(name), entry_for(id))
    if length then
      fresh = fresh + note_added(name, length, 1)
    else
      call(command, key('ready:' .. (header(body) or '5')), entry_of(id))
      fresh = fresh + 1
    end
  end

  function moves.add_ready(command, id, body)
    if num(field('crashes', id)) < QUARANTINE_AFTER then return moves.add_to_list(command, id, body) end
    call('RPUSH', key('quarantined'), entry_for(id))
    fresh = fresh + 1
  end

  -- Appends a job to its ready list, or schedules it. The ready-since stamp in front of the body is renewed.
  function moves.enqueue(id, body, due)
    local priority = header(body)
    if due > now then
      call('ZADD', key('scheduled'), whole(due), id)
      known.scheduled = true
    else
      if priority then call('HSET', key('body'), id, stamp .. string.sub(body, 14)) end
      moves.add_ready('RPUSH', id, body)
    end
  end

  -- Returns a job to the head of its ready list, where it was.
  function moves.requeue(id, body)
    moves.add_ready('LPUSH', id, body)
    delete_field('running', id)
  end

  -- Removes a job from its ready list: directly from a short list, else by a tombstone that a claim skips.
  function moves.remove_from_ready(id, body)
    local entry = entry_of(id)
    delete_field('alias', entry)
    delete_field('alias:of', id)
    local _, _, _, fragment = header(body)
    local waiting = lists_of(body)
    local lists = {}
    for i, name in ipairs(waiting) do lists[i] = key(name) end
    if has('quarantined') then lists[#lists + 1] = key('quarantined') end
    local operation = fragment and has('unroutable') and string.match(fragment, '^"operation":"([%w_.-]+)"')
    local group = operation and unroutable_field(operation, body)
    if group and not wrong_type('unroutable:' .. group, 'list') then lists[#lists + 1] = key('unroutable:' .. group) end
    for n, list_key in ipairs(lists) do
      if (try('LLEN', list_key) or 0) <= 1000 and try('LREM', list_key, 1, entry) == 1 then
        if waiting[n] and parse_list(waiting[n]) then groups.note_removed(waiting[n], 1) end
        if not waiting[n] and group and list_key == key('unroutable:' .. group) then
          local left = call('LLEN', list_key)
          if left > 0 then set_field('unroutable', group, left) else delete_field('unroutable', group) end
        end
        return
      end
    end
    set_field('tombstones', entry, num(field('tombstones', entry)) + 1)
  end
end)
