-- audit: runs one bounded step of an audit. A step reads a page of one key and compares each member with its
-- counterparts in the same script, so its findings are consistent. On request it also repairs them: the steps are in
-- lib_audit_*.lua, what each repair changes in FindingExplanations.swift. The step `confirm` decides what a single page
-- cannot show.
--
-- Arguments  1 to repair, the step, then the arguments of the step: a name, a cursor or position, the largest number of
--            members; or ids
-- Reply      next cursor or position ('end': none), findings (kind, subject, 1 if repaired, …), and a list that depends
--            on the step
if not steps[step] then return redis.error_reply('ERRAND an audit has no step ' .. step) end
steps[step]()
if repairing then flush() end
return { next_position, found, list }
