-- cursor: stores the cursor of a reader of the durable stream for its next start, and returns it.
--
-- Arguments  the reader's name, and the cursor to store ('' to read it only)
-- Reply      the reader's cursor, '' if there is none
local reader, cursor = ARGV[1] or '', ARGV[2] or ''
if #reader > 128 or not string.find(reader, '^[%w_.-]+$') then
  return redis.error_reply('ERRAND the name of a reader must match [A-Za-z0-9_.-]{1,128}')
end
local wrong = type_error({ cursors = 'hash' })
if wrong then return wrong end
if cursor ~= '' then
  if not string.find(cursor, '^%d+%-%d+$') then return redis.error_reply('ERRAND a cursor is two numbers with a dash between') end
  if call('HLEN', key('cursors')) >= 1000 and not field('cursors', reader) then
    return redis.error_reply('ERRANDFULL the queue keeps the positions of 1000 readers of its events, which is the limit; use the name of one of them')
  end
  -- If two processes read under the same name, the slower one does not set the cursor back.
  local epoch, number = string.match(cursor, '^(%d+)%-(%d+)$')
  local known_epoch, known_number = string.match(call('HGET', key('cursors'), reader) or '', '^(%d+)%-(%d+)$')
  if epoch ~= known_epoch or num(number) > num(known_number) then call('HSET', key('cursors'), reader, cursor) end
end
return call('HGET', key('cursors'), reader) or ''
