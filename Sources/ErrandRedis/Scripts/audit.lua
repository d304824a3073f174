-- audit: one bounded step of an audit. It looks at a page of one key and compares each member with its counterparts, all in one
-- script, so what it reports is so; and mends it when asked. What no single page can tell is settled by `confirm`.
--
-- ARGV     1 to mend, the step, then what the step takes: a name, a cursor or position, how many at the most; or ids
-- Answer   next cursor or position ('end': none), findings (kind, subject, 1 if mended, …), and a list that depends on the step
if not steps[step] then return redis.error_reply('ERRAND an audit has no step ' .. step) end
steps[step]()
if mending then settle() end
return { next_position, found, list }
