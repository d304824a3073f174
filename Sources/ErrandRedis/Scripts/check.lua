-- check: checks whether the keys of the queue have the types that the scripts that change it require. Reads only.
--
-- Reply      OK, or the error with which these scripts end before their first write
return redis.status_reply('OK')
