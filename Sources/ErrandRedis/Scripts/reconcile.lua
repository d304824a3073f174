-- reconcile: compares the stored claims of a session with the runs that its worker has. They differ after the server
-- has lost data, or after a claim was recovered.
--
-- Arguments  session, number of its last exchange, then id and token of each run that the worker has
-- Reply      how many claims were released because the worker does not have them, then the ids without a claim
local session = ARGV[1]
local me, mine = session_key(session), claims_key(session)
if not call('ZSCORE', key('sessions'), session) then return redis.error_reply('ERRANDLOST the session is not registered') end
local wrong = session_type_error(session)
if wrong then return wrong end
-- The worker could not have the claims that an exchange or a direct dispatch made after this call was sent.
local last = call('HMGET', me, 'call', 'dispatch')
local answered = num(last[1]) + (string.find(last[2] or '', '^h') and 1 or 0)
if answered > num(ARGV[2]) then return redis.error_reply('ERRAND this call is older than the last exchange, so it is ignored') end

local known, reply = {}, { 0 }
for i = 3, #ARGV - 1, 2 do
  known[ARGV[i] .. ' ' .. ARGV[i + 1]] = true
  local claim = call('HGET', mine, ARGV[i])
  if not claim or string.match(claim, '^(%d+):') ~= ARGV[i + 1] then reply[#reply + 1] = ARGV[i] end
end
local held, unknown = newest_first(call('HGETALL', mine), session), {}
for i = 1, #held, 2 do
  if room <= 0 then break end
  local id = held[i]
  if not known[id .. ' ' .. (string.match(held[i + 1], '^(%d+):') or '')] then
    free_slot(id, held[i + 1], true)
    local body = endings.end_claim(id, session, 'released')
    if body then moves.requeue(id, body) end
    unknown[#unknown + 1] = id
  end
end
each_portion(unknown, 1000, 'HDEL', mine)
reply[1] = #unknown
flush()
return reply
