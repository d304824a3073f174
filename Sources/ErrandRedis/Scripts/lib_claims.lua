-- Claims: takes jobs from the lists and stores the claims of the session. How a claim is written, and its deadline
-- (hard_deadline), are in lib_claim_texts.lua, because a push also claims.
local room = most_bytes
local token, flags = '', 0
-- Ids with their bodies and counts, in the form that the worker expects.
local ids, bodies, extras = {}, {}, {}
local function add_job(id, body)
  ids[#ids + 1] = id
  bodies[#bodies + 1] = body
end
local function add_extras()
  if #ids == 0 or not (has('failures') or has('crashes')) then return end
  local failures = has('failures') and call('HMGET', key('failures'), unpack(ids)) or {}
  local crashes = has('crashes') and call('HMGET', key('crashes'), unpack(ids)) or {}
  for i = 1, #ids do
    local f, c = num(failures[i]), num(crashes[i])
    if f > 0 or c > 0 then
      extras[#extras + 1] = i
      extras[#extras + 1] = f
      extras[#extras + 1] = c
    end
  end
end

-- How often a group was passed over, because its jobs are only claimed for a free slot of the worker.
local passed_over = 0

-- Resolves entries to ids: skips tombstones and counts them down, and replaces aliases by the jobs they stand for.
local skipped = 0
local function resolve(entries)
  if not (has('tombstones') or has('alias')) then return entries end
  local found = {}
  for _, entry in ipairs(entries) do
    local tombs = num(field('tombstones', entry))
    if tombs > 0 then skipped = skipped + 1 end
    if tombs > 1 then set_field('tombstones', entry, tombs - 1)
    elseif tombs == 1 then call('HDEL', key('tombstones'), entry)
    else
      local owner = field('alias', entry)
      if owner then
        call('HDEL', key('alias'), entry)
        call('HDEL', key('alias:of'), owner)
      end
      found[#found + 1] = owner or entry
    end
  end
  return found
end

-- The ids and fragments of jobs that this call has found expired; nil if there are none.
local expired
-- The claim of a job without a timeout and a group, and what claims are charged in advance.
local default_claim, charge
-- The cost of the job that was claimed last.
local claimed_cost = 1
-- Whether jobs with a group join the list of their group instead of being claimed, because they were found elsewhere.
local regroups = false
local claims = {}
local claim, claim_one, are_sound
do
  local function expire(id, fragment)
    local line = event('expired', id, fragment, num(field('failures', id)), 'null', 0, 'null')
    count('expired')
    endings.end_job(id, 'e', line)
    expired = expired or {}
    expired[#expired + 1] = id
    expired[#expired + 1] = fragment
    skipped = skipped + 1
  end

  local grouped_claim
  -- The text of a claim, and the body; nil if the job has expired. Once a job is claimed, it no longer expires. Only jobs
  -- with a timeout and those with a header of version 2 have another character than a semicolon in that place.
  local function claim_of(id, body)
    if string.byte(body, 18) == 59 then return default_claim, body end
    -- A job of a group of one part without a timeout and an expiry.
    local job_cost, group = string.match(body, '^2%a%d;%d+;;%d*;;(%d*);([%w_.:@+-]+)\n', 14)
    if group and #group <= 64 then
      claimed_cost = job_cost == '' and 1 or math.max(1, math.min(num(job_cost), 1000000))
      take_slot(group, id)
      grouped_claim = grouped_claim or claim_text(token, hard_deadline(nil, claim_margin, default_duration), '')
      return grouped_claim .. group .. (charge or ''), body
    end
    local _, timeout, _, fragment, expiry, cost
    _, timeout, _, fragment, expiry, cost, group = header(body)
    if expiry and expiry <= now then return expire(id, fragment) end
    if expiry then
      body = string.gsub(body, '^(.-;%d+;%d*;%d*;)%d+', '%1', 1)
      call('HSET', key('body'), id, body)
    end
    claimed_cost = cost or 1
    if group then take_slot(group, id) end
    return claim_text(token, hard_deadline(timeout, claim_margin, default_duration), group, charge), body
  end

  -- Claims a job, whose id is known to consist of the characters of ids if `is_sound`.
  function claim_one(id, body, is_sound)
    local reason = (not body or body == '') and '"the stored job is missing; push it again"'
      or (#id > 64 or id == '' or not (is_sound or string.find(id, '^[%w_-]+$'))) and '"its id is not a valid one; delete it"'
    if reason then
      skipped = skipped + 1
      endings.handle_stray(id, reason)
      return
    end
    if regroups and string.sub(list_of(body), 1, 6) == 'group:' then
      skipped = skipped + 1
      moves.add_to_list('RPUSH', id, body)
      return
    end
    local text, claimed = claim_of(id, body)
    room = room - #body
    if not text then return end
    local n = #ids + 1
    ids[n], bodies[n] = id, claimed
    claims[2 * n - 1], claims[2 * n] = id, text
  end

  function are_sound(found)
    local all = table.concat(found)
    return string.find(all, '^%w*$') or string.find(all, '^[%w_-]*$')
  end
  function claim(found)
    if #found == 0 then return end
    local stored, is_sound, n = call('HMGET', key('body'), unpack(found)), are_sound(found), #ids
    for i = 1, #found do
      local id, body = found[i], stored[i]
      -- Most jobs have no timeout and a header of version 1; this is claim_one() for them.
      if is_sound and body and string.byte(body, 18) == 59 and #id <= 64 and id ~= '' then
        n = n + 1
        ids[n], bodies[n] = id, body
        claims[2 * n - 1], claims[2 * n] = id, default_claim
        room = room - #body
      else
        claim_one(id, body, is_sound)
        n = #ids
      end
    end
  end
end

local looked, take, portion = 0
do
  local whole_room = room
  function portion()
    if #ids == 0 then return 8 end
    -- The first few bodies give an estimate of the size. If it is wrong, 32 bodies of a MiB each are still acceptable.
    return math.max(1, math.min(32, math.floor(room * #ids / (whole_room - room))))
  end

  -- Pops up to `n` entries of a list, in portions so that large bodies do not pile up; many tombstones take several
  -- calls.
  function take(list_key, n, filter)
    local unseen = filter and call('LLEN', list_key) or n
    while n > 0 and unseen > 0 and room > 0 and looked < 2000 do
      local entries = call('LPOP', list_key, math.min(n, portion(), unseen))
      if not entries then return n end
      looked = looked + #entries
      local before = #ids
      claim(filter and filter(resolve(entries), list_key) or resolve(entries))
      n = n - (#ids - before)
      if filter then unseen = unseen - #entries end
    end
    return n
  end
end
