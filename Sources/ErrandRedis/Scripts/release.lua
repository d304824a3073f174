-- release: ends a session; what it still holds goes back to the head of the line, with its attempts unspent.
--
-- ARGV     session
-- Answer   how many jobs went back
local session = ARGV[1]
local mine = Q .. ':claims:' .. session
local held = call('HKEYS', mine)
table.sort(held, function(a, b) return a > b end)
for _, id in ipairs(held) do
  local body = return_claim(id, session, 'released')
  if body then give_back(id, body) end
end
if #held > 0 then call('DEL', mine) end
end_session(session)
settle()
return #held
