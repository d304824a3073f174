-- The promotion of a queue in which nothing waits for a time, a rest or another job: most are, about once a second, so it
-- comes before everything that others need.
if call('EXISTS', key('scheduled'), key('retrying'), key('timetable'), key('resting'), key('held_back'), key('blocked:released'),
  key('workflow:work'), key('workflow:hops'), key('workflows:unsealed'), key('workflows:ended')) == 0 then return { 0, -1, 0, 0 } end
