-- The recovery of a queue whose sessions live and hold nothing, the usual one of an idle queue: it comes before everything
-- that others need. If it meets anything else, such as a wrong type, the whole recovery looks.
do
  local function is_quiet()
    local dead = redis.pcall('ZRANGEBYSCORE', key('sessions'), '-inf', nowtext, 'LIMIT', 0, 1)
    local runtime = redis.pcall('HMGET', key('runtime'), 'beat', 'lease', 'gap')
    if dead.err or dead[1] or runtime.err or not runtime[1] or runtime[3] then return false end
    return math.abs(now - num(runtime[1])) <= num(runtime[2]) / 2
  end
  -- Whether no session that the recovery may choose holds a claim.
  local function holds_nothing()
    local sessions = call('ZRANGE', key('sessions'), 0, 9)
    if #sessions == 0 or #sessions > 9 then return false end
    for i, session in ipairs(sessions) do sessions[i] = claims_key(session) end
    return call('EXISTS', unpack(sessions)) == 0
  end
  if is_quiet() and holds_nothing() then return { 0, 0 } end
end
