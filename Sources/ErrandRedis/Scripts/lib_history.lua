-- The records of ended jobs: their ids, and for a day their last events, errors and results.
local HISTORY_KEPT, HISTORY_BYTES, HISTORY_MS, IDS_KEPT = 10000, 67108864, 86400000, 500000
local ERRORS_KEPT, ERRORS_BYTES = 10, 16384
local ended, kept, order = {}, 0, {}

local function remember_all(ids, first, how)
  local n = #ended
  for i = first, #ids do
    ended[n + 1], ended[n + 2] = ids[i], how
    n = n + 2
  end
end
local function remember(id, how) remember_all({ id }, 1, how) end

-- The errors of a job's runs: their events, newest first, separated by tabs, which no event contains.
local function keep_error(id, line)
  local kept_lines, size = { line }, #line
  for earlier in string.gmatch(field('errors', id) or '', '[^\t]+') do
    size = size + 1 + #earlier
    if #kept_lines == ERRORS_KEPT or size > ERRORS_BYTES then break end
    kept_lines[#kept_lines + 1] = earlier
  end
  set_field('errors', id, table.concat(kept_lines, '\t'))
end

-- A record consists of the letter of the ending, the last event, the events of its errors, and, after a line feed, the
-- result.
local function keep_history(id, how, line, result)
  local errors = field('errors', id)
  local record = how .. line .. (errors and '\t' .. errors or '') .. '\n' .. (result or '')
  kept = kept + #record
  order[#order + 1] = nowtext .. ':' .. id
  if call('HSETNX', key('history'), id, record) == 1 then return end
  kept = kept - call('HSTRLEN', key('history'), id)
  call('HSET', key('history'), id, record)
end

local function flush_ended()
  if #ended == 0 then return end
  local window = setting('remember_ms', 60000)
  local since = num(call('HGET', key('runtime'), 'ended_at'))
  -- If the clock was set back, no id is forgotten: the window starts again.
  if since > now then
    since = now
    call('HSET', key('runtime'), 'ended_at', nowtext)
  end
  if since == 0 or now - since >= window or call('HLEN', key('ended')) >= IDS_KEPT then
    if since > 0 and call('EXISTS', key('ended')) == 1 then
      -- Half a million ids take a tenth of a second to free, so the server frees them in the background, unless the
      -- user may not call UNLINK.
      redis.pcall('UNLINK', key('ended:old'))
      call('RENAME', key('ended'), key('ended:old'))
    end
    call('HSET', key('runtime'), 'ended_at', nowtext)
  end
  each_portion(ended, 1000, 'HSET', key('ended'))
  call('PEXPIRE', key('ended'), whole(2 * window))
  ended = {}
end

-- The history also expires if no job ends any more.
local function expire_history()
  for _, name in ipairs({ 'history', 'history:order' }) do
    call('PEXPIRE', key(name), whole(setting('keep_ms', HISTORY_MS)))
  end
end

local function trim_history()
  if kept == 0 and #order == 0 then return end
  local list, oldest = key('history:order'), now - setting('keep_ms', HISTORY_MS)
  -- If the history had expired, its stored size no longer counts.
  local stored = kept + (call('EXISTS', list) == 1 and num(call('HGET', key('runtime'), 'history_bytes')) or 0)
  each_portion(order, 1000, 'RPUSH', list)
  for _ = 1, #order + 100 do
    local head = call('LINDEX', list, 0)
    if not head then
      -- This also corrects a wrong size.
      stored = 0
      break
    end
    local at, id = string.match(head, '^(%d+):(.*)$')
    local record = id and call('HGET', key('history'), id)
    -- Otherwise the record was deleted, or is a newer one of the same id, which has its own entry.
    local is_current = record and string.find(string.match(record, '^[^\t]*'), '"at_ms":' .. at .. ',', 1, true)
    local fits = stored <= HISTORY_BYTES and call('LLEN', list) <= HISTORY_KEPT
    if is_current and num(at) > oldest and fits then break end
    call('LPOP', list)
    if is_current then
      stored = stored - #record
      call('HDEL', key('history'), id)
    end
  end
  call('HSET', key('runtime'), 'history_bytes', whole(math.max(stored, 0)))
  expire_history()
  kept, order = 0, {}
end
