-- release: ends a session; what it still holds goes back to the head of the line, with its attempts unspent.
--
-- ARGV     session
-- Answer   how many jobs went back
local session = ARGV[1]
local wrong = session_type_error(session)
if wrong then return wrong end
local mine = Q .. ':claims:' .. session
local held = newest_first(call('HGETALL', mine))
for i = 1, #held, 2 do
  local id = held[i]
  local body = return_claim(id, session, 'released')
  if body then give_back(id, body) end
end
if #held > 0 then call('DEL', mine) end
end_session(session)
settle()
return #held / 2
