-- Totals: counted during the script and added at its end.
local totals = {}
local function count(what, times) totals[what] = (totals[what] or 0) + (times or 1) end
local function add_totals()
  for what, n in pairs(totals) do
    local added = redis.pcall('HINCRBY', key('counters'), what, n)
    if type(added) == 'table' and added.err then call('HSET', key('counters'), what, n) end
  end
  totals = {}
end
