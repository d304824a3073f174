-- push: takes jobs into the queue, one after the other.
--
-- KEYS[1]  errand:{queue}
-- ARGV     for each job five values: id, due (ms since 1970; 0 is now), policy (i, d, r; D and R let the name go at the first claim), name ('' without), envelope
-- Answer   first 1 when the queue was not known before (then: SADD errand:queues queue), else 0; then one text a job:
--          a accepted · e exists · d:HOLDER dropped · r:HOLDER replaced · n:HOLDER deferred
--
-- Runs without allow-oom: a push is refused when the server's memory is full.
local COUNT = #ARGV / 5
if COUNT < 1 or COUNT > 1000 or COUNT ~= math.floor(COUNT) then
  return redis.error_reply('ERRAND push takes 1 to 1000 jobs of 5 values each')
end
local refused, waiting = refuse_jobs(1)
if refused then return refused end

local answer = { 0 }
if waiting == 0 and call('HLEN', Q .. ':counters') == 0 then answer[1] = 1 end
take_jobs(1, answer)
settle()
return answer
