-- update: stores progress or a checkpoint that a running job reports.
--
-- Arguments  session, id, token, progress ('' for none): members of a JSON object, and optionally a checkpoint
-- Reply      1 if it was stored, 0 if the session no longer holds that claim
local session, id, token, progress, checkpoint = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if #progress > 8192 or string.find(progress, CONTROL) then
  return redis.error_reply('ERRAND progress has at most 8192 bytes on one line')
end
if checkpoint and #checkpoint > 65536 then return redis.error_reply('ERRAND a checkpoint has at most 65536 bytes; store it elsewhere and keep a reference') end
local wrong = session_type_error(session)
if wrong then return wrong end

local claim = call('HGET', claims_key(session), id)
if not claim or string.sub(claim, 1, #token + 1) ~= token .. ':' then return 0 end
if checkpoint then set_field('checkpoints', id, checkpoint) end
if progress ~= '' then
  set_field('progress', id, '{' .. progress .. '}')
  local _, _, _, fragment = header(call('HGET', key('body'), id))
  local attempt = num(field('failures', id)) + 1
  event('progress', id, fragment or NAMELESS, attempt, '"' .. printable(session) .. '"', 0, 'null,' .. progress)
end
flush()
return 1
