-- check: whether the scripts that change the queue find its keys as they must be. Reads only.
--
-- Answer   OK, or the error with which they end before their first write
return redis.status_reply('OK')
