-- record: adds the outcomes and durations of runs to the queue's statistics, and a sample of the queue's counts to buckets
-- that have none.
--
-- Arguments  operation and cells (number=count, separated by spaces) for each operation, of at most 50
-- Reply      how many operations it has recorded; 0 if the queue does not exist
--
-- Statistics are expendable: a key with a wrong type is replaced.
local MOST_OPERATIONS, MOST = 50, 9000000000000000
if #ARGV % 2 ~= 0 or #ARGV > 2 * (MOST_OPERATIONS + 1) then
  return redis.error_reply('ERRAND record takes operations and their cells, of at most ' .. MOST_OPERATIONS .. ' operations')
end
for i = 1, #ARGV, 2 do
  if not (ARGV[i] == '*' or string.match(ARGV[i], '^[%w_.-]+$') and #ARGV[i] <= 128) or #ARGV[i + 1] > 4096 then
    return redis.error_reply('ERRAND record takes names of operations, each with at most 4096 bytes of cells')
  end
end
if not any_exists(TYPES) then return 0 end

-- Adds cells of the same number.
local function sum(old, new)
  local cells, order = {}, {}
  for _, text in ipairs({ old or '', new }) do
    for cell, count in string.gmatch(text, '(%d%d?%d?)=(%d+)') do
      if not cells[cell] then order[#order + 1] = cell end
      cells[cell] = math.min((cells[cell] or 0) + num(count), MOST)
    end
  end
  for i, cell in ipairs(order) do order[i] = cell .. '=' .. whole(cells[cell]) end
  return table.concat(order, ' ')
end

local function usable(name)
  if wrong_type(name, 'hash') then call('DEL', key(name)) end
  return key(name)
end

-- The operations beyond the first ones are added up.
local runs, named = usable('statistics:runs'), {}
for i = 1, #ARGV, 2 do
  local operation = ARGV[i]
  if call('HEXISTS', runs, operation) == 0 and call('HLEN', runs) >= MOST_OPERATIONS then operation = '*' end
  named[i], named[i + 1] = operation, ARGV[i + 1]
  call('HSET', runs, operation, sum(call('HGET', runs, operation), ARGV[i + 1]))
end

local sample
for resolution, numbers in pairs(RESOLUTIONS) do
  local bucket = whole(bucket_of(resolution, now))
  local buckets = usable(buckets_name(resolution, num(bucket)))
  for i = 1, #named, 2 do
    local entry = bucket .. ' ' .. named[i]
    call('HSET', buckets, entry, sum(call('HGET', buckets, entry), named[i + 1]))
  end
  if call('HEXISTS', buckets, bucket) == 0 then
    sample = sample or present_sample()
    call('HSET', buckets, bucket, sample)
  end
  call('PEXPIRE', buckets, whole(numbers[1] * (numbers[2] + numbers[3])))
end
return #named / 2
