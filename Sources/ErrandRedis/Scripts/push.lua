-- push: adds jobs to the queue, one after the other.
--
-- KEYS       errand:{queue} errand:{queue}:gate
-- Arguments  for each job five values: id, due (ms since 1970; 0 is now), policy, name ('' for none), envelope.
--            Policies: i ignore, d drop, r replace, k keep the latest (with D, R and K the name is free from the first
--            claim on), t:WINDOW throttle, B:WINDOW[:AT_MOST] debounce (ms)
-- Reply      first 1 if the queue was not known before (then: SADD errand:queues queue), else 0; then one text a job:
--            a accepted · e exists · f:GROUP refused, because this group has too many waiting jobs · d:HOLDER dropped ·
--            r:HOLDER replaced · n:HOLDER deferred. With a window, a colon and a time (ms since 1970) follow: until when
--            a throttle drops jobs, or when a debounced job is due (a::TIME for an accepted one)
--
-- Runs without allow-oom: a push is refused if the server's memory is full.
local COUNT = #ARGV / 5
if COUNT < 1 or COUNT > 1000 or COUNT ~= math.floor(COUNT) then
  return redis.error_reply('ERRAND push takes 1 to 1000 jobs of 5 values each')
end
local refused, waiting = refuse_jobs(1)
if refused then return refused end

local reply = { 0 }
if waiting == 0 and call('HLEN', key('counters')) == 0 then reply[1] = 1 end
refuses_jobs = true
push_jobs(1, reply)

local function is_only_ready(level)
  if num(field('settings', 'starts')) == 1 then return false end
  local of_queue = special and has('flow') and rule_of(WHOLE_QUEUE) or {}
  if of_queue.at_once or of_queue.interval then return false end
  return is_only_list(level) and call('LLEN', key('ready:' .. level)) == 1
end

local function dispatch_to(session, lease_ends)
  local id, body, level = ARGV[1], stamp .. ARGV[5], string.sub(ARGV[5], 3, 3)
  local _, timeout, _, fragment = header(body)
  local operation = string.match(fragment or '', '^"operation":"([%w_.-]+)"')
  local function is_alone() return not has_newer and is_only_ready(level) and entry_of(id) == id end
  local is_dispatched = dispatch_job(id, body, level, timeout, operation, session, lease_ends, is_alone)
  if not is_dispatched then return is_dispatched end
  -- A capital letter: the job holds its name only until it starts, so the name is free now.
  if string.find(ARGV[3], '[DRK]') then free_name(id) elseif string.find(ARGV[3], '[drk]') then set_field('running', id, session) end
  return true
end
if COUNT == 1 and string.sub(reply[2], 1, 1) == 'a' and fresh == 1 then dispatch = dispatch_to end

flush()
return reply
