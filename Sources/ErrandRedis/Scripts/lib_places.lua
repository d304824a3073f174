-- Where a job is put, and how it leaves: shared by every script that ends jobs or lines them up.
local SUSPECT_FROM, DEAD_KEPT = 3, 100000
local HISTORY_KEPT, HISTORY_BYTES, HISTORY_MS, IDS_KEPT = 10000, 67108864, 86400000, 500000
local ERRORS_KEPT, ERRORS_BYTES = 10, 16384
local fresh, ended, kept, records = 0, {}, 0, 0
-- Large jobs are fewer a call: the bytes of bodies that it may still read.
local room = 8388608

-- The entry under which a job comes into a line: its id, or another text while that stands for something else somewhere: for a job
-- that took over the place of an older one of this id, or for an older one that has left and is yet to be skipped.
local function is_taken(entry) return field('stand', entry) or field('gone', entry) end
local function entry_for(id)
  if not is_taken(id) then return id end
  local entry, at = id .. ':' .. nowtext, now
  while is_taken(entry) do
    at = at + 1
    entry = id .. ':' .. whole(at)
  end
  put('stand', entry, id)
  put('place', id, entry)
  return entry
end

-- To the end of its line, or scheduled. The ready-since stamp in front of the body starts anew.
local function line_up(id, body, due)
  local priority = header(body)
  if due > now then
    call('ZADD', Q .. ':scheduled', whole(due), id)
  else
    if priority then call('HSET', Q .. ':body', id, stamp .. string.sub(body, 14)) end
    if num(field('crashes', id)) >= SUSPECT_FROM then call('RPUSH', Q .. ':suspects', entry_for(id))
    else call('RPUSH', Q .. ':ready:' .. (priority or '5'), entry_for(id)) end
    fresh = fresh + 1
  end
end

-- Back to the head of its line, where it was.
local function give_back(id, body)
  if num(field('crashes', id)) >= SUSPECT_FROM then call('RPUSH', Q .. ':suspects', entry_for(id))
  else call('LPUSH', Q .. ':ready:' .. (header(body) or '5'), entry_for(id)) end
  drop('running', id)
  fresh = fresh + 1
end

-- A claim as it is kept: its token, its hard deadline and, where the token does not tell, the time at which it was made: tokens
-- run ahead of a clock that was put back.
local function claim_text(token, deadline)
  return token .. ':' .. whole(deadline) .. (math.floor(num(token) / 1000) ~= now and ':' .. nowtext or '')
end

-- The job that waits for another one's end comes into line, and starts to wait there: at the head where the other one stood there,
-- or would stand again.
local function come_next(id, body, due, at_head)
  if due > now or not at_head then return line_up(id, body, due) end
  if header(body) then call('HSET', Q .. ':body', id, stamp .. string.sub(body, 14)) end
  give_back(id, body)
end

-- Gives the name up: to the successor, who then goes to its place, or to whoever comes next.
local function leave_name(id, at_head)
  local name, next_up = field('named', id), field('next', id)
  -- Without a name there is nothing of the kind, unless a key was lost.
  if not (name or next_up) then return drop('running', id) end
  local due, successor = string.match(next_up or '', '^(%d+):(.+)$')
  local body = successor and call('HGET', Q .. ':body', successor)
  if body then
    if name then call('HSET', Q .. ':names', name, successor) end
    come_next(successor, body, num(due), at_head)
  elseif name and call('HGET', Q .. ':names', name) == id then
    call('HDEL', Q .. ':names', name)
  end
  drop('next', id)
  drop('running', id)
  drop('named', id)
end

local function successor_of(id)
  local next_up = field('next', id)
  return next_up and string.match(next_up, '^%d+:(.+)$')
end

-- A successor leaves its holder alone: what it asked of it is taken back, as far as the holder has not heard of it yet.
local function leave_holder(holder)
  drop('next', holder)
  if field('stops', holder) == 'replace' then drop('stops', holder) end
end

local function remember_all(ids, first, how)
  local n = #ended
  for i = first, #ids do
    ended[n + 1], ended[n + 2] = ids[i], how
    n = n + 2
  end
end
local function remember(id, how) remember_all({ id }, 1, how) end

-- The errors of a job's runs: their events, the newest first, with tabs between them, which no event holds.
local function keep_error(id, line)
  local kept_lines, size = { line }, #line
  for earlier in string.gmatch(field('errors', id) or '', '[^\t]+') do
    size = size + 1 + #earlier
    if #kept_lines == ERRORS_KEPT or size > ERRORS_BYTES then break end
    kept_lines[#kept_lines + 1] = earlier
  end
  put('errors', id, table.concat(kept_lines, '\t'))
end

-- A record is the letter of how the job ended, its last event and those of its errors, and its result after a line feed.
local function keep_history(id, how, line, result)
  local errors = field('errors', id)
  local record = how .. line .. (errors and '\t' .. errors or '') .. '\n' .. (result or '')
  records = records + 1
  kept = kept + #record - call('HSTRLEN', Q .. ':history', id)
  call('HSET', Q .. ':history', id, record)
  call('RPUSH', Q .. ':history:order', nowtext .. ':' .. id)
end

-- Attempts and crash counts begin anew.
local function forget_runs(id)
  drop('failures', id)
  drop('crashes', id)
  drop('alone', id)
  drop('stops', id)
  drop('progress', id)
end
-- Removes what is kept beside a body.
local function forget_sides(id)
  forget_runs(id)
  drop('errors', id)
  drop('checkpoints', id)
end

-- The entry of a line at which a job stands: its own id, or that of the job whose place it took over.
local function entry_of(id) return field('place', id) or id end

-- Takes a job out of its line: out of a short line at once, else by a tombstone that a claim skips.
local function leave_line(id, body)
  local entry = entry_of(id)
  drop('stand', entry)
  drop('place', id)
  local priority, _, _, fragment = header(body)
  local lines_of = { Q .. ':ready:' .. (priority or '5') }
  if has('suspects') then lines_of[#lines_of + 1] = Q .. ':suspects' end
  local operation = fragment and has('parked') and string.match(fragment, '^"operation":"([%w_.-]+)"')
  local lot = operation and parking(operation, body)
  if lot and not wrong_type('parked:' .. lot, 'list') then lines_of[#lines_of + 1] = Q .. ':parked:' .. lot end
  for n, line in ipairs(lines_of) do
    if call('LLEN', line) <= 1000 and call('LREM', line, 1, entry) == 1 then
      if n > 1 and lot and line == Q .. ':parked:' .. lot then
        local left = call('LLEN', line)
        if left > 0 then put('parked', lot, left) else drop('parked', lot) end
      end
      return
    end
  end
  put('gone', entry, num(field('gone', entry)) + 1)
end

-- Ends a job for good: `how` is a letter of the ended record (f finished, c cancelled, r replaced, x deleted).
local function end_job(id, how, line, result, at_head)
  if line then keep_history(id, how, line, result) end
  remember(id, how)
  leave_name(id, at_head)
  forget_sides(id)
  call('HDEL', Q .. ':body', id)
end

-- Ends a job whose claim is over and whose successor waits. Answers whether there was one. It comes to the head of its line where the job
-- itself would have come back there; otherwise who is replaced again and again would never run in a line that is long.
local function superseded(id, fragment, attempt, worker, line, at_head)
  if not successor_of(id) then return false end
  event('replaced', id, fragment, attempt, worker, 0, 'null')
  count('replaced')
  end_job(id, 'r', line, nil, at_head)
  return true
end

local function trim_dead()
  if call('ZCARD', Q .. ':dead') < DEAD_KEPT then return end
  local oldest = call('ZPOPMIN', Q .. ':dead')[1]
  call('HDEL', Q .. ':body', oldest)
  forget_sides(oldest)
  remember(oldest, 'x')
  count('dead_trimmed')
end

-- Sets a job aside for a person. Its name is free from now on.
local function die(id, fragment, attempt, worker, duration, error)
  local line = event('dead', id, fragment, attempt, worker, duration, error)
  count('dead')
  -- First, for a clock that was put back makes the new one look the oldest.
  trim_dead()
  call('ZADD', Q .. ':dead', nowtext, id)
  keep_error(id, line)
  leave_name(id)
  drop('stops', id)
end

-- A member of a line or a due set without a body: garbage, unless its job has just ended.
local function bury(id, reason)
  if call('ZSCORE', Q .. ':dead', id) then return count('strays') end
  local made = call('HSETNX', Q .. ':body', id, '') == 1
  if made and (field('ended', id) or field('ended:old', id)) then
    call('HDEL', Q .. ':body', id)
    return count('strays')
  end
  die(id, NAMELESS, 0, 'null', 0, reason or '"its body is missing"')
end

local function flush_ended()
  if #ended == 0 then return end
  local window = setting('remember_ms', 60000)
  local since = num(call('HGET', Q .. ':seq', 'ended_at'))
  -- A clock that was put back is no reason to forget anything: the window begins anew.
  if since > now then
    since = now
    call('HSET', Q .. ':seq', 'ended_at', nowtext)
  end
  if since == 0 or now - since >= window or call('HLEN', Q .. ':ended') >= IDS_KEPT then
    if since > 0 and call('EXISTS', Q .. ':ended') == 1 then
      -- Half a million ids take a tenth of a second to free, so the server does that beside its work. A user who may not UNLINK waits.
      redis.pcall('UNLINK', Q .. ':ended:old')
      call('RENAME', Q .. ':ended', Q .. ':ended:old')
    end
    call('HSET', Q .. ':seq', 'ended_at', nowtext)
  end
  each_portion(ended, 1000, 'HSET', Q .. ':ended')
  call('PEXPIRE', Q .. ':ended', whole(2 * window))
  ended = {}
end

-- Also where nothing ends any more.
local function expire_history()
  for _, name in ipairs({ 'history', 'history:order' }) do
    call('PEXPIRE', Q .. ':' .. name, whole(setting('keep_ms', HISTORY_MS)))
  end
end

local function trim_history()
  if kept == 0 and records == 0 then return end
  local order, oldest = Q .. ':history:order', now - setting('keep_ms', HISTORY_MS)
  -- Where all had expired, nothing of it counts any more.
  local stored = kept + (call('LLEN', order) > records and num(call('HGET', Q .. ':seq', 'history_bytes')) or 0)
  for _ = 1, records + 100 do
    local head = call('LINDEX', order, 0)
    if not head then
      -- Then whatever was counted wrong is forgotten as well.
      stored = 0
      break
    end
    local at, id = string.match(head, '^(%d+):(.*)$')
    local record = id and call('HGET', Q .. ':history', id)
    -- Otherwise it was deleted, or is a newer one of the same id, which has an entry of its own.
    local stands = record and string.find(string.match(record, '^[^\t]*'), '"at_ms":' .. at .. ',', 1, true)
    local fits = stored <= HISTORY_BYTES and call('LLEN', order) <= HISTORY_KEPT
    if stands and num(at) > oldest and fits then break end
    call('LPOP', order)
    if stands then
      stored = stored - #record
      call('HDEL', Q .. ':history', id)
    end
  end
  call('HSET', Q .. ':seq', 'history_bytes', whole(math.max(stored, 0)))
  expire_history()
  kept, records = 0, 0
end

-- Writes what the script gathered. Every script that changes jobs ends with it.
local function settle()
  flush_ended()
  trim_history()
  publish()
  add_totals()
  wake(fresh)
end
