-- The lists of ready, quarantined and unroutable jobs: how a job enters and leaves them.
local QUARANTINE_AFTER = 3
-- How many jobs this script has made ready.
local fresh = 0
-- The bytes of bodies that the script may still read: of large jobs a call handles fewer.
local room = 8388608

-- The entry under which a job comes into a line: its id, or another text while that stands for something else somewhere: for a job
-- that took over the place of an older one of this id, or for an older one that has left and is yet to be skipped.
local function is_taken(entry) return field('alias', entry) or field('tombstones', entry) end
local function entry_for(id)
  if not is_taken(id) then return id end
  local entry, at = id .. ':' .. nowtext, now
  while is_taken(entry) do
    at = at + 1
    entry = id .. ':' .. whole(at)
  end
  put('alias', entry, id)
  put('alias:of', id, entry)
  return entry
end

-- To the end of its line, or scheduled. The ready-since stamp in front of the body starts anew.
local function line_up(id, body, due)
  local priority = header(body)
  if due > now then
    call('ZADD', key('scheduled'), whole(due), id)
  else
    if priority then call('HSET', key('body'), id, stamp .. string.sub(body, 14)) end
    if num(field('crashes', id)) >= QUARANTINE_AFTER then call('RPUSH', key('quarantined'), entry_for(id))
    else call('RPUSH', key('ready:' .. (priority or '5')), entry_for(id)) end
    fresh = fresh + 1
  end
end

-- Back to the head of its line, where it was.
local function give_back(id, body)
  if num(field('crashes', id)) >= QUARANTINE_AFTER then call('RPUSH', key('quarantined'), entry_for(id))
  else call('LPUSH', key('ready:' .. (header(body) or '5')), entry_for(id)) end
  drop('running', id)
  fresh = fresh + 1
end

-- A claim as it is kept: its token, its hard deadline and, where the token does not tell, the time at which it was made: tokens
-- run ahead of a clock that was put back.
local function claim_text(token, deadline)
  return token .. ':' .. whole(deadline) .. (math.floor(num(token) / 1000) ~= now and ':' .. nowtext or '')
end

-- The entry of a line at which a job stands: its own id, or that of the job whose place it took over.
local function entry_of(id) return field('alias:of', id) or id end

-- Takes a job out of its line: out of a short line at once, else by a tombstone that a claim skips.
local function leave_line(id, body)
  local entry = entry_of(id)
  drop('alias', entry)
  drop('alias:of', id)
  local priority, _, _, fragment = header(body)
  local lines_of = { key('ready:' .. (priority or '5')) }
  if has('quarantined') then lines_of[#lines_of + 1] = key('quarantined') end
  local operation = fragment and has('unroutable') and string.match(fragment, '^"operation":"([%w_.-]+)"')
  local group = operation and unroutable_field(operation, body)
  if group and not wrong_type('unroutable:' .. group, 'list') then lines_of[#lines_of + 1] = key('unroutable:' .. group) end
  for n, line in ipairs(lines_of) do
    if call('LLEN', line) <= 1000 and call('LREM', line, 1, entry) == 1 then
      if n > 1 and group and line == key('unroutable:' .. group) then
        local left = call('LLEN', line)
        if left > 0 then put('unroutable', group, left) else drop('unroutable', group) end
      end
      return
    end
  end
  put('tombstones', entry, num(field('tombstones', entry)) + 1)
end
