-- Whether the queue exists. Whatever creates it (a push, a session, a schedule or an operator) leaves a permanent key.
local ALL_TYPES = { TYPES, SELDOM, COMBINED, AT_TIMES, SCHEDULE_TYPES }
local function queue_exists()
  for _, types in ipairs(ALL_TYPES) do
    if any_exists(types) then return true end
  end
  return false
end
