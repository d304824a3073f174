-- release: ends a session; what it still holds goes back to the head of the line, with its attempts unspent.
--
-- ARGV     session
-- Answer   how many jobs went back, and 1 when it holds more: then it has not ended, and the call is to be repeated
local session = ARGV[1]
local wrong = session_type_error(session)
if wrong then return wrong end
local mine = claims_key(session)
local held = newest_first(call('HGETALL', mine), session)
local returned = {}
for i = 1, #held, 2 do
  if room <= 0 then break end
  local id = held[i]
  local body = return_claim(id, session, 'released')
  if body then give_back(id, body) end
  returned[#returned + 1] = id
end
each_portion(returned, 1000, 'HDEL', mine)
local more = #returned < #held / 2
if not more then end_session(session) end
settle()
return { #returned, more and 1 or 0 }
