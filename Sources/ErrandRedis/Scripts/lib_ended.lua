-- The ids of jobs that have ended, which are remembered so that a push that is repeated adds no job.
local IDS_KEPT = 500000
local ended = {}

local function remember_all(ids, first, how)
  local n = #ended
  for i = first, #ids do
    ended[n + 1], ended[n + 2] = ids[i], how
    n = n + 2
  end
end
local function remember(id, how) remember_all({ id }, 1, how) end

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
