-- Wakes sessions that wait for jobs.

-- The number of jobs that this script has made ready.
local fresh = 0

-- Dispatches the only new job to a waiting session, which then need not claim it; set by a script that does so. Returns
-- whether it did, or nil if no connection of the session listens.
local dispatch

-- Wakes as many waiting sessions as there are jobs for them. A paused queue wakes none until it resumes.
local function wake(jobs)
  if jobs == 0 or num(field('settings', 'paused')) == 1 then return end
  while jobs > 0 and call('EXISTS', key('idle')) == 1 do
    local sessions = call('SPOP', key('idle'), math.min(jobs, 100))
    for _, session in ipairs(sessions) do
      local ends = call('ZSCORE', key('sessions'), session)
      local dispatched = false
      if ends and dispatch then dispatched = dispatch(session, num(ends)) end
      if ends and dispatched == false then call(PUBLISH, key('wakeups:' .. session), 'w') end
      if ends and dispatched ~= nil then jobs = jobs - 1 end
    end
  end
end
