-- A queue's statistics in buckets of three lengths. A key has the buckets of some time: a sample of the queue's counts in
-- the field BUCKET, and the outcomes and durations of an operation's runs in `BUCKET OPERATION`. The numbers are those of
-- StatisticsResolution in Swift: milliseconds of a bucket, buckets of a key, and buckets that are kept.
local RESOLUTIONS = { minutes = { 60000, 60, 120 }, ten_minutes = { 600000, 144, 144 }, hours = { 3600000, 24, 192 } }

local function bucket_of(resolution, time) return math.floor(time / RESOLUTIONS[resolution][1]) end
local function buckets_name(resolution, bucket)
  return 'statistics:' .. resolution .. ':' .. whole(math.floor(bucket / RESOLUTIONS[resolution][2]))
end

-- The names of the keys that may exist now.
local function statistics_names()
  local names = { 'statistics:runs' }
  for resolution, numbers in pairs(RESOLUTIONS) do
    local present = bucket_of(resolution, now)
    for bucket = present - numbers[3] - numbers[2], present + numbers[2], numbers[2] do
      names[#names + 1] = buckets_name(resolution, bucket)
    end
  end
  return names
end

-- The time, the counts of the queue and its totals now, in the order in which Swift reads them, separated by spaces.
local COUNTS = { 'ready', 'scheduled', 'retrying', 'deferred', 'dead', 'oldest' }
local TOTALS = { 'pushed', 'finished', 'failed', 'timed_out', 'cancelled', 'dead' }
local function present_sample()
  local counts, numbers = {}, { nowtext }
  local flat = counts_of_states()
  for i = 1, #flat, 2 do counts[flat[i]] = flat[i + 1] end
  for _, name in ipairs(COUNTS) do numbers[#numbers + 1] = whole(math.max(0, counts[name])) end
  for i, total in ipairs(call('HMGET', key('counters'), unpack(TOTALS))) do numbers[#numbers + 1] = whole(math.max(0, num(total))) end
  return table.concat(numbers, ' ')
end
