-- register: registers a session; its lease begins.
--
-- Arguments  session, lease (ms), host, pid, concurrency, a secret that wake-ups with dispatched jobs must repeat, the
--            start of the worker by its clock (ms; 0 if unknown), its version, then operation and `timeout:retries` of
--            each operation that the session has
-- Reply      OK
local session, lease = ARGV[1], num(ARGV[2])
if #session < 8 or #session > 64 or string.find(session, '[^%w_-]') then
  return redis.error_reply('ERRAND a session id must match [A-Za-z0-9_-]{8,64}')
end
if lease < 100 or lease > 86400000 then return redis.error_reply('ERRAND the lease must be 100 ms to 1 day') end
local me = session_key(session)
local wrong = type_error({ runtime = 'hash', sessions = 'zset' }) or session_type_error(session)
if wrong then return wrong end
if call('ZSCORE', key('sessions'), session) then
  local there = call('HMGET', me, 'host', 'pid')
  if there[1] ~= ARGV[3] or there[2] ~= ARGV[4] then return redis.error_reply('ERRAND another process has this session id') end
end

-- The longest lease of the live sessions applies. If there are very many, only the 1,000 that end last are compared.
local longest = lease
for _, other in ipairs(call('ZREVRANGE', key('sessions'), 0, 999)) do
  -- Corrupt keys of other sessions must not prevent this registration.
  if call('TYPE', session_key(other)).ok == 'hash' then
    longest = math.max(longest, num(call('HGET', session_key(other), 'lease')))
  end
end
call('HSET', key('runtime'), 'lease', whole(longest))
detect_outage(lease)
call('HSET', key('runtime'), 'beat', nowtext)
call('DEL', me)
call('HSET', me, 'host', ARGV[3], 'pid', ARGV[4], 'concurrency', ARGV[5], 'lease', ARGV[2], 'beat', nowtext, 'secret', ARGV[6])
call('HSET', me, 'started', ARGV[7], 'version', string.sub(ARGV[8], 1, 64))
for i = 9, #ARGV - 1, 2 do call('HSET', me, 'op:' .. ARGV[i], ARGV[i + 1]) end
call('ZADD', key('sessions'), whole(now + lease), session)
return redis.status_reply('OK')
