-- release: ends a session; the claims that it still holds are released to the heads of their ready lists and spend no
-- attempt.
--
-- Arguments  session
-- Reply      how many claims were released, and 1 if the session holds more: then it has not ended, and the call is to
--            be repeated
local session = ARGV[1]
local wrong = session_type_error(session)
if wrong then return wrong end
local mine = claims_key(session)
local held = newest_first(call('HGETALL', mine), session)
local released = {}
for i = 1, #held, 2 do
  if room <= 0 then break end
  local id = held[i]
  free_slot(id, held[i + 1], true)
  local body = endings.end_claim(id, session, 'released')
  if body then moves.requeue(id, body) end
  released[#released + 1] = id
end
each_portion(released, 1000, 'HDEL', mine)
local more = #released < #held / 2
if not more then end_session(session) end
flush()
return { #released, more and 1 or 0 }
