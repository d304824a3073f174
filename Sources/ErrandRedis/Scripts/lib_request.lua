-- The arguments of an exchange, which are checked before the first write, and the state of the session.
local session, call_number = ARGV[1], ARGV[2]
local wanted, free_slots, begun_token = num(ARGV[3]), num(ARGV[4]), num(ARGV[5])
-- The milliseconds that a claim lasts beyond its job's timeout, and those of a claim whose job has no timeout of its
-- own.
local claim_margin, default_duration = num(ARGV[6]), num(ARGV[7])
local most_bytes, accepts_dispatch, portion_count = num(ARGV[8]), ARGV[9] == '1', num(ARGV[10])
local FIRST_PORTION = 11

local me, mine = session_key(session), claims_key(session)
if not call('ZSCORE', key('sessions'), session) then return redis.error_reply('ERRANDLOST the session is not registered') end
local wrong = session_type_error(session)
-- The index of each portion of reports in ARGV, and the ids of all reports.
local portions, asked = {}, {}
do
  local at = FIRST_PORTION
  for i = 1, portion_count do
    local n = num(ARGV[at])
    portions[i] = at
    if n < 0 or n > 1000 or not ARGV[at + (n == 0 and 9 or 3 + 2 * n)] then
      return redis.error_reply('ERRAND the reports are cut off')
    end
    local first, before = at + (n == 0 and 1 or 4), #asked
    for k = 0, math.max(n, 1) - 1 do asked[before + 1 + k] = ARGV[first + k] end
    local operation = n == 0 and ARGV[at + 3] == 'u' and string.match(ARGV[at + 6], '^"operation":"([%w_.-]+)"')
    wrong = wrong or (operation and type_error({ ['unroutable:' .. unroutable_field(operation, call('HGET', key('body'), asked[before + 1]))] = 'list' }))
    at = at + (n == 0 and 10 or 4 + 2 * n)
  end
end
if wrong then return wrong end
-- A queue of plain jobs lacks these keys, so they need no further checks until a report other than a finish is taken.
if not special then
  setmetatable(known, { __index = function(_, name)
    if SELDOM[name] or COMBINED[name] then return false end
  end })
end
local is_plain = not special
local worker = '"' .. session .. '"'

local runtime = {}
do
  local kept = call('HMGET', key('runtime'), 'token', 'quarantine_owner', 'turn', 'beat', 'lease', 'gap')
  runtime.token, runtime.owner, runtime.turn, runtime.beat, runtime.lease, runtime.gap = unpack(kept)
end
-- A call that claims jobs notices an outage, too: if the clock was set, their deadlines are by the new one.
local function notice_outage()
  local lease = num(runtime.lease)
  if runtime.beat and (runtime.gap or math.abs(now - num(runtime.beat)) > lease / 2) then detect_outage(lease) end
end
