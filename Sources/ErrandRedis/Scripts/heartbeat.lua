-- heartbeat: extends a session's lease and returns the runs that must stop.
--
-- Arguments  session, lease (ms), begun token
-- Reply      how many claims the session holds, then id and token of each that must stop
local session, lease = ARGV[1], num(ARGV[2])
if not call('ZSCORE', key('sessions'), session) then return redis.error_reply('ERRANDLOST the session is not registered') end
local wrong = type_error({ runtime = 'hash', stops = 'hash' }) or session_type_error(session)
if wrong then return wrong end
detect_outage(lease)
call('ZADD', key('sessions'), whole(now + lease), session)
call('HSET', key('runtime'), 'beat', nowtext)
call('HSET', session_key(session), 'beat', nowtext)
if num(call('HGET', session_key(session), 'begun')) < num(ARGV[3]) then
  call('HSET', session_key(session), 'begun', ARGV[3])
end

local mine = claims_key(session)
local reply = { call('HLEN', mine) }
local function add_stop(id, claim)
  local token = claim and string.match(claim, '^(%d+):')
  if token then
    reply[#reply + 1] = id
    reply[#reply + 1] = token
  end
end
-- Iterates over the smaller set: more jobs may be cancelled than this session ever holds.
if has('stops') and call('HLEN', key('stops')) <= 1000 then
  local ids = call('HKEYS', key('stops'))
  local claims = #ids > 0 and call('HMGET', mine, unpack(ids)) or {}
  for i, id in ipairs(ids) do add_stop(id, claims[i]) end
elseif has('stops') then
  local held = call('HGETALL', mine)
  for i = 1, #held, 2 do
    if field('stops', held[i]) then add_stop(held[i], held[i + 1]) end
  end
end
return reply
