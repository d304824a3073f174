-- The counts of a queue's jobs by state.
local ready = 0

-- How long the first job of a list has been waiting.
local function age_of_head(list_key)
  for _, entry in ipairs(call('LRANGE', list_key, 0, 9)) do
    local body = call('HGET', key('body'), field('alias', entry) or entry)
    local since = body and string.match(body, '^(%d%d%d%d%d%d%d%d%d%d%d%d%d)[12]')
    if since then
      return now - num(since)
    end
  end
  return 0
end

-- Counts the jobs of a list. Returns the age of the oldest of this and the earlier lists.
local function add_list(list_key, oldest)
  local length = call('LLEN', list_key)
  if length == 0 then return oldest end
  ready = ready + length
  return math.max(oldest, age_of_head(list_key))
end

-- The number of ready jobs of a queue with groups, of which there may be too many to add up: all jobs in no other state.
local function count_others()
  local count = call('HLEN', key('body')) - call('ZCARD', key('scheduled')) - call('ZCARD', key('retrying'))
    - call('ZCARD', key('dead')) - call('HLEN', key('successors')) - call('HLEN', key('blocked:jobs'))
  for _, session in ipairs(call('ZRANGE', key('sessions'), 0, -1)) do
    count = count - call('HLEN', key('claims:' .. session))
  end
  return count
end

-- The counts as names and numbers, and the unroutable jobs as operations and numbers.
local function counts_of_states()
  local oldest, oldest_unroutable = 0, 0
  for level = 0, 9 do oldest = add_list(key('ready:' .. level), oldest) end
  -- Of the groups, the twenty with the most jobs.
  for _, member in ipairs(call('ZREVRANGE', key('backlog'), 0, 19)) do oldest = add_list(key('group:' .. member), oldest) end
  oldest = add_list(key('quarantined'), oldest)
  -- Thousands of invented operations must not make each call expensive: it reads the lists of the first 100, and adds up
  -- the stored counts of the others, of at most 5,000 in all.
  local unroutable = call('HLEN', key('unroutable')) > 5000 and call('HRANDFIELD', key('unroutable'), 5000, 'WITHVALUES') or call('HGETALL', key('unroutable'))
  for i = 1, #unroutable, 2 do
    if i <= 200 then oldest_unroutable = add_list(key('unroutable:' .. unroutable[i]), oldest_unroutable) else ready = ready + math.max(0, math.min(num(unroutable[i + 1]), 1000000000)) end
  end
  unroutable = { unpack(unroutable, 1, 200) }
  -- Nearly every such entry has one tombstone, so the call does not add them up if there are very many entries.
  local tombs = call('HLEN', key('tombstones'))
  if tombs <= 1000 then
    tombs = 0
    for _, n in ipairs(call('HVALS', key('tombstones'))) do tombs = tombs + num(n) end
  end
  return {
    'ready', math.max(has('backlog') and count_others() or ready - tombs, 0),
    'scheduled', call('ZCARD', key('scheduled')),
    'retrying', call('ZCARD', key('retrying')),
    'dead', call('ZCARD', key('dead')),
    'deferred', call('HLEN', key('successors')),
    'blocked', call('HLEN', key('blocked:jobs')),
    'oldest', oldest,
    'oldest_unroutable', oldest_unroutable,
  }, unroutable
end
