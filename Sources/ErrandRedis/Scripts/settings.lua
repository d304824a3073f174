-- settings: changes the settings of an operator; an empty value restores the default.
--
-- Arguments  field and value of each setting: paused, maximum, remember_ms, keep_ms, starts, stream
-- Reply      OK, or an error ERRANDQUEUE if the queue does not exist
if not queue_exists() then return redis.error_reply('ERRANDQUEUE ' .. queue) end
local allowed = { paused = true, maximum = true, remember_ms = true, keep_ms = true, starts = true, stream = true }
for i = 1, #ARGV, 2 do
  if not allowed[ARGV[i]] or not string.find(ARGV[i + 1] or '', '^%d*$') then
    return redis.error_reply('ERRAND a setting is paused, maximum, remember_ms, keep_ms, starts or stream, and its value a number')
  end
end
for i = 1, #ARGV, 2 do
  if ARGV[i + 1] == '' or ARGV[i + 1] == '0' then call('HDEL', key('settings'), ARGV[i])
  else call('HSET', key('settings'), ARGV[i], ARGV[i + 1]) end
  -- Events get no number while none are kept. A new epoch later shows readers the gap.
  if ARGV[i] == 'stream' and call('HEXISTS', key('settings'), 'stream') == 0 then
    call('DEL', key('stream'))
    call('HDEL', key('runtime'), 'stream')
  end
  if ARGV[i] == 'keep_ms' then history.expire() end
  if ARGV[i] == 'paused' then
    fresh = 1000
    known = {}
  end
end
flush()
return redis.status_reply('OK')
