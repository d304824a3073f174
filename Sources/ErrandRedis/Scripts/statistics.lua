-- statistics: returns samples of a queue's counts, and the outcomes and durations of its runs. Reads only.
--
-- Arguments  'runs' · or resolution, first and last bucket, 1 to return the runs of these buckets, too
-- Reply      operation, cells … since the beginning · or the present sample, then bucket and sample …, then bucket,
--            operation and cells …
local resolution = ARGV[1]
if resolution == 'runs' then return call('HGETALL', key('statistics:runs')) end
local numbers = RESOLUTIONS[resolution]
local first, last = num(ARGV[2]), num(ARGV[3])
if not numbers or first > last or last - first > numbers[3] then
  return redis.error_reply('ERRAND statistics takes a resolution and the buckets of a period that is kept')
end

-- Calls back for each key with the buckets of the period: its name, and its first and last bucket.
local function each_key(body)
  local together = numbers[2]
  for key_number = math.floor(first / together), math.floor(last / together) do
    body(key(buckets_name(resolution, key_number * together)), math.max(first, key_number * together), math.min(last, key_number * together + together - 1))
  end
end

local samples, runs = {}, {}
each_key(function(name, from, to)
  local buckets = {}
  for bucket = from, to do buckets[#buckets + 1] = whole(bucket) end
  for i, sample in ipairs(call('HMGET', name, unpack(buckets))) do
    if sample then
      samples[#samples + 1] = buckets[i]
      samples[#samples + 1] = sample
    end
  end
  if ARGV[4] ~= '1' then return end
  local flat = call('HGETALL', name)
  for i = 1, #flat, 2 do
    local bucket, operation = string.match(flat[i], '^(%d+) (.+)$')
    if bucket and num(bucket) >= from and num(bucket) <= to then
      runs[#runs + 1] = bucket
      runs[#runs + 1] = operation
      runs[#runs + 1] = flat[i + 1]
    end
  end
end)
return { present_sample(), samples, runs }
