-- How a claim is written, by exchanges and by pushes that dispatch a job.

-- The hard deadline of a claim that is made now. `margin` is what a claim lasts beyond its job's timeout, `default` what
-- it lasts if the job has none, both in milliseconds.
local function hard_deadline(timeout, margin, default)
  return now + (timeout and timeout > 0 and margin + timeout or default)
end

-- The stored form of a claim: its token, its hard deadline, the time at which it was made unless the token implies it
-- (after the clock was set back, tokens are ahead of it), the job's group if it has one, and what it was charged.
local function claim_text(token, deadline, group, charge)
  local made = math.floor(num(token) / 1000) ~= now and ':' .. nowtext or ''
  if not group and not charge then return token .. ':' .. whole(deadline) .. made end
  return token .. ':' .. whole(deadline) .. (made ~= '' and made or ':') .. ':' .. (group or '') .. (charge or '')
end
