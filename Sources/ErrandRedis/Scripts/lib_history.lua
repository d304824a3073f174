-- The records of ended jobs: for a day their last events, errors and results.
local HISTORY_KEPT, HISTORY_BYTES, HISTORY_MS = 10000, 67108864, 86400000
local ERRORS_KEPT, ERRORS_BYTES = 10, 16384
local kept, order, records = 0, {}, {}

local history = {}
on_use(history, function()
  -- The errors of a job's runs: their events, newest first, separated by tabs, which no event contains.
  function history.keep_error(id, line)
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
  function history.keep(id, how, line, result)
    local errors = field('errors', id)
    local record = how .. line .. (errors and '\t' .. errors or '') .. '\n' .. (result or '')
    kept = kept + #record - #(records[id] or '')
    records[id] = record
    order[#order + 1] = nowtext .. ':' .. id
  end

  -- Writes the gathered records in portions. Those that they take the place of no longer count.
  local function write_records()
    local ids, pairs_of = {}, {}
    for id, record in pairs(records) do
      local n = #pairs_of
      ids[#ids + 1], pairs_of[n + 1], pairs_of[n + 2] = id, id, record
    end
    for from = 1, #ids, 1000 do
      for _, former in ipairs(call('HMGET', key('history'), unpack(ids, from, math.min(from + 999, #ids)))) do
        kept = kept - #(former or '')
      end
    end
    each_portion(pairs_of, 1000, 'HSET', key('history'))
    records = {}
  end

  -- The history also expires if no job ends any more.
  function history.expire()
    for _, name in ipairs({ 'history', 'history:order' }) do
      call('PEXPIRE', key(name), whole(setting('keep_ms', HISTORY_MS)))
    end
  end

  -- Whether the last event of a record is of this time, which an entry of the order has. Otherwise the record was deleted, or
  -- is a newer one of the same id, which has its own entry. Errors of earlier runs follow the event behind a tab.
  local function is_current(record, at)
    local found = record and string.find(record, '"at_ms":' .. at .. ',', 1, true)
    local tab = found and string.find(record, '\t', 1, true)
    return found and (not tab or tab > found)
  end

  -- Removes the first entries of the order, with their records, and returns the bytes of these.
  local function drop_oldest(list, count)
    local ids, times, dropped, is_dropped, size = {}, {}, {}, {}, 0
    for n, entry in ipairs(call('LPOP', list, count)) do
      times[n], ids[n] = string.match(entry, '^(%d+):(.*)$')
      ids[n] = ids[n] or ''
    end
    for n, record in ipairs(call('HMGET', key('history'), unpack(ids))) do
      if times[n] and is_current(record, times[n]) and not is_dropped[ids[n]] then
        size = size + #record
        dropped[#dropped + 1], is_dropped[ids[n]] = ids[n], true
      end
    end
    each_portion(dropped, 1000, 'HDEL', key('history'))
    return size
  end

  function history.trim()
    write_records()
    local list, oldest = key('history:order'), now - setting('keep_ms', HISTORY_MS)
    -- If the history had expired, its stored size no longer counts.
    local stored = kept + (call('EXISTS', list) == 1 and num(call('HGET', key('runtime'), 'history_bytes')) or 0)
    each_portion(order, 1000, 'RPUSH', list)
    local budget = #order + 100
    while budget > 0 do
      local excess = math.min(call('LLEN', list) - HISTORY_KEPT, budget, 100)
      local head = call('LINDEX', list, 0)
      if not head then
        -- This also corrects a wrong size.
        stored = 0
        break
      end
      local at, id = string.match(head, '^(%d+):(.*)$')
      local fits = stored <= HISTORY_BYTES and excess <= 0
      if fits and id and num(at) > oldest and is_current(call('HGET', key('history'), id), at) then break end
      excess = math.max(excess, 1)
      stored = stored - drop_oldest(list, excess)
      budget = budget - excess
    end
    call('HSET', key('runtime'), 'history_bytes', whole(math.max(stored, 0)))
    history.expire()
    kept, order = 0, {}
  end
end)
