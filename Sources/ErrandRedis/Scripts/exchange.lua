-- exchange: runs that ended, and new claims, in one step.
--
-- ARGV     session, call number, wanted, free slots, begun token, wait + grace (ms), the same + longest default timeout (ms),
--          bytes at the most, 1 when a push may answer the next call if this one finds nothing, number of portions, then the reports in portions:
--          0 and nine values: id, token, verb, attempt, duration (ms), fragment, error (JSON), result, retry delay (ms; '' for none)
--          n > 0, for n jobs that just finished and are alike: token, fragment, attempt, the ids, the durations (ms)
-- Answer   verdicts ('1' counted, '0' stale), token of the claims, ids, bodies, extras (position, failures, crashes, …), flags (1 due jobs wait, 2 paused,
--          4 nothing but what has left so far: there may be more behind it, 8 a push has answered this call before it came, and its
--          reports were not taken)
local session = ARGV[1]
local me, mine = Q .. ':session:' .. session, Q .. ':claims:' .. session
if not call('ZSCORE', Q .. ':sessions', session) then return redis.error_reply('ERRANDLOST the session is not registered') end
local wrong = session_type_error(session)
local portions, asked = {}, {}
do
  local at = 11
  for i = 1, num(ARGV[10]) do
    local n = num(ARGV[at])
    portions[i] = at
    if n < 0 or n > 1000 or not ARGV[at + (n == 0 and 9 or 3 + 2 * n)] then
      return redis.error_reply('ERRAND the reports are cut off')
    end
    local first, before = at + (n == 0 and 1 or 4), #asked
    for k = 0, math.max(n, 1) - 1 do asked[before + 1 + k] = ARGV[first + k] end
    local operation = n == 0 and ARGV[at + 3] == 'p' and string.match(ARGV[at + 6], '^"operation":"([%w_.-]+)"')
    wrong = wrong or (operation and type_error({ ['parked:' .. parking(operation, call('HGET', Q .. ':body', asked[before + 1]))] = 'list' }))
    at = at + (n == 0 and 10 or 4 + 2 * n)
  end
end
if wrong then return wrong end
-- What a queue of plain jobs lacks need not be asked for again, until other reports than of finished jobs have been taken.
if not special then
  for name in pairs(SELDOM) do known[name] = false end
end
local is_plain = not special
local worker = '"' .. session .. '"'

local seq = call('HMGET', Q .. ':seq', 'token', 'beat', 'lease', 'solo', 'turn', 'gap')
if seq[2] and (seq[6] or math.abs(now - num(seq[2])) > num(seq[3]) / 2) then mind_the_gap(num(seq[3])) end

-- Ids with their bodies and counts, as the worker wants them.
local ids, bodies, extras = {}, {}, {}
local function hand_over(id, body)
  ids[#ids + 1] = id
  bodies[#bodies + 1] = body
end
local function add_extras()
  if #ids == 0 or not (has('failures') or has('crashes')) then return end
  local failures = has('failures') and call('HMGET', Q .. ':failures', unpack(ids)) or {}
  local crashes = has('crashes') and call('HMGET', Q .. ':crashes', unpack(ids)) or {}
  for i = 1, #ids do
    local f, c = num(failures[i]), num(crashes[i])
    if f > 0 or c > 0 then
      extras[#extras + 1] = i
      extras[#extras + 1] = f
      extras[#extras + 1] = c
    end
  end
end

local last = call('HMGET', me, 'call', 'token', 'verdicts', 'open')
-- A push has handed a job over in answer to this call: from now on it is the last one.
local handed = string.match(last[4] or '', '^h(%d+)$')
if handed and num(ARGV[2]) == num(last[1]) + 1 then
  last = { ARGV[2], handed, 'h' }
  call('HSET', me, 'call', ARGV[2], 'token', handed, 'verdicts', 'h', 'open', '')
  if num(ARGV[4]) > 0 then call('HSET', me, 'begun', handed) end
end
-- A resend: the verdicts of the first time, and what is still held of its claims.
if last[1] == ARGV[2] then
  if last[2] and last[2] ~= '' then
    local held = call('HGETALL', mine)
    for i = 1, #held, 2 do
      if string.sub(held[i + 1], 1, #last[2] + 1) == last[2] .. ':' then
        hand_over(held[i], call('HGET', Q .. ':body', held[i]) or '')
      end
    end
  end
  add_extras()
  -- Who was to wait for a hint, and got none yet, goes on waiting: on a bad network every lost answer would be another look.
  local waits = #ids > 0 or num(ARGV[3]) == 0 or call('SISMEMBER', Q .. ':idle', session) == 1
  local verdicts = last[3] or ''
  return { verdicts == 'h' and '' or verdicts, last[2] or '', ids, bodies, extras, (waits and 0 or 4) + (verdicts == 'h' and 8 or 0) }
end

-- A call that was held back on a broken connection while later ones went through: nobody waits for its answer.
if num(ARGV[2]) < num(last[1]) then return redis.error_reply('ERRAND this call is older than the last one') end

-- Reports -------------------------------------------------------------------------------------------------------------
local verdicts, done, gone = {}, {}, {}
local finished, returned = {}, {}
local bare = not special or call('EXISTS', Q .. ':named', Q .. ':failures', Q .. ':crashes', Q .. ':errors', Q .. ':stops',
  Q .. ':progress', Q .. ':checkpoints') == 0

local function retry(id, fragment, attempt, duration, delay, line)
  call('ZADD', Q .. ':retrying', whole(now + num(delay)), id)
  if line then keep_error(id, line) end
  drop('running', id)
  event('retrying', id, fragment, attempt, worker, duration, 'null')
end

-- It was told to stop, and does.
local function cancelled(id, fragment, attempt, duration, failure)
  local line = event('cancelled', id, fragment, attempt, worker, duration, failure or 'null')
  count('cancelled')
  if not (field('stops', id) == 'replace' and superseded(id, fragment, attempt, worker, line)) then end_job(id, 'c', line) end
end

local function failed(kind, id, fragment, attempt, duration, failure, delay)
  if field('stops', id) == 'cancel' then return cancelled(id, fragment, attempt, duration, failure) end
  local line = event(kind, id, fragment, attempt, worker, duration, failure)
  count(kind)
  if superseded(id, fragment, attempt, worker, line) then return end
  put('failures', id, num(attempt))
  if delay ~= '' then
    retry(id, fragment, attempt, duration, delay, line)
    count('retried')
  else
    die(id, fragment, attempt, worker, duration, failure)
  end
end

local function finish(id, fragment, attempt, duration, result)
  local line = event('finished', id, fragment, attempt, worker, duration, 'null')
  count('finished')
  if not bare then return end_job(id, 'f', result ~= '' and line, result) end
  if result ~= '' then keep_history(id, 'f', line, result) end
  remember(id, 'f')
  finished[#finished + 1] = id
end

local function park(id, fragment, attempt)
  if superseded(id, fragment, attempt, worker) then return end
  if field('stops', id) then return cancelled(id, fragment, attempt, 0) end
  local operation = string.match(fragment, '^"operation":"([%w_.-]+)"')
  if not operation then return die(id, NAMELESS, attempt, worker, 0, '"its operation cannot be read"') end
  local lot = parking(operation, call('HGET', Q .. ':body', id))
  call('RPUSH', Q .. ':parked:' .. lot, entry_for(id))
  put('parked', lot, num(field('parked', lot)) + 1)
  drop('running', id)
  fresh = fresh + 1
end

local function take_report(id, verb, attempt, duration, fragment, failure, result, delay)
  fragment = sound_fragment(fragment)
  if verb == 'f' then finish(id, fragment, attempt, duration, result)
  elseif verb == 'e' then failed('failed', id, fragment, attempt, duration, failure, delay)
  elseif verb == 't' then failed('timed_out', id, fragment, attempt, duration, failure, delay)
  elseif verb == 'c' then cancelled(id, fragment, attempt, duration, failure)
  elseif verb == 'r' then returned[#returned + 1] = id
  elseif verb == 'p' then park(id, fragment, attempt)
  elseif verb == 's' then
    if field('stops', id) then cancelled(id, fragment, attempt, duration)
    elseif not superseded(id, fragment, attempt, worker) then retry(id, fragment, attempt, duration, delay ~= '' and delay or '0') end
  else die(id, fragment, attempt, worker, duration, failure) end
end

if #asked > 0 then
  local held = call('HMGET', mine, unpack(asked))
  -- An id that somebody wrote into a line twice may run in two sessions; it ends once, as long as its end is remembered.
  local over = has('ended') and call('HMGET', Q .. ':ended', unpack(asked)) or {}
  local long_over = has('ended:old') and call('HMGET', Q .. ':ended:old', unpack(asked)) or {}
  local good, over_claims = nil, 0

  -- Whether the report of an id counts: it comes from who holds it, and then that claim is over; and the job has not ended otherwise.
  local function counts(i, start)
    local id, claim = asked[i], held[i]
    if not claim or done[id] or (claim ~= good and string.sub(claim, 1, #start) ~= start) then return false end
    good = claim
    done[id] = true
    over_claims = over_claims + 1
    gone[over_claims] = id
    return not (over[i] or long_over[i])
  end

  -- The events of alike jobs differ in their ids and durations only; this is event() for many.
  local function finish_together(at, n, before)
    local start, fragment, durations = ARGV[at + 1] .. ':', sound_fragment(ARGV[at + 2]), at + 3 + n - before
    local head, tail = '{"event":"finished","id":"', ',"error":null}'
    local middle = '",' .. fragment .. ',"queue":"' .. queue .. '","attempt":' .. ARGV[at + 3] .. ',"worker":' .. worker
      .. ',"at_ms":' .. nowtext .. ',"duration_ms":'
    local between, texts, last, accepted, taken = tail .. '\n' .. head, { head }, 1, 0, #finished
    good = nil
    for i = before + 1, before + n do
      local id = asked[i]
      if counts(i, start) then
        accepted = accepted + 1
        verdicts[i] = '1'
        texts[last + 1], texts[last + 2], texts[last + 3], texts[last + 4] = id, middle, ARGV[durations + i], between
        last = last + 4
        if bare then finished[taken + accepted] = id else end_job(id, 'f') end
      else
        verdicts[i] = '0'
      end
    end
    if accepted == 0 then return end
    texts[last] = tail
    tell(table.concat(texts), accepted)
    if bare then remember_all(finished, taken + 1, 'f') end
    count('finished', accepted)
  end

  local reported = 0
  for _, at in ipairs(portions) do
    local n = num(ARGV[at])
    if n > 0 then
      finish_together(at, n, reported)
      reported = reported + n
    else
      reported = reported + 1
      good = nil
      local taken = counts(reported, ARGV[at + 2] .. ':')
      verdicts[reported] = taken and '1' or '0'
      if taken then
        take_report(ARGV[at + 1], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5], ARGV[at + 6], ARGV[at + 7], ARGV[at + 8], ARGV[at + 9])
        is_plain = false
      end
    end
  end
  -- Given back from the last to the first, so that the first is at the head again.
  for i = #returned, 1, -1 do
    local body = return_claim(returned[i], session, 'released')
    if body then give_back(returned[i], body) end
  end
  each_portion(finished, 1000, 'HDEL', Q .. ':body')
  each_portion(gone, 1000, 'HDEL', mine)
end

-- Claims --------------------------------------------------------------------------------------------------------------
local wanted, room = num(ARGV[3]), num(ARGV[8])
local token = ''
local flags = 0
-- What a push must know to answer the next call.
local open = ''
if not is_plain then known = {} end

-- Entries of a line as ids: tombstones are skipped and counted down, places taken over lead to their new owners.
local skipped = 0
local function resolve(entries)
  if not (has('gone') or has('stand')) then return entries end
  local found = {}
  for _, entry in ipairs(entries) do
    local tombs = num(field('gone', entry))
    if tombs > 0 then skipped = skipped + 1 end
    if tombs > 1 then put('gone', entry, tombs - 1)
    elseif tombs == 1 then call('HDEL', Q .. ':gone', entry)
    else
      local owner = field('stand', entry)
      if owner then
        call('HDEL', Q .. ':stand', entry)
        call('HDEL', Q .. ':place', owner)
      end
      found[#found + 1] = owner or entry
    end
  end
  return found
end

local wait_and_grace, usual = num(ARGV[6]), num(ARGV[7])
local usual_claim
local function claim_of(body)
  if string.byte(body, 18) == 59 then return usual_claim end
  local _, timeout = header(body)
  if not timeout or timeout == 0 then return usual_claim end
  return claim_text(token, now + wait_and_grace + timeout)
end

local claims = {}
local function claim(found)
  if #found == 0 then return end
  local stored = call('HMGET', Q .. ':body', unpack(found))
  local all = table.concat(found)
  local are_sound = string.find(all, '^%w*$') or string.find(all, '^[%w_-]*$')
  local n = #ids
  for i = 1, #found do
    local id, body = found[i], stored[i]
    local reason = (not body or body == '') and '"its body is missing"'
      or (#id > 64 or id == '' or not (are_sound or string.find(id, '^[%w_-]+$'))) and '"its id is not one"'
    if reason then
      skipped = skipped + 1
      bury(id, reason)
    else
      n = n + 1
      ids[n], bodies[n] = id, body
      claims[2 * n - 1], claims[2 * n] = id, claim_of(body)
      room = room - #body
    end
  end
end

-- Pops up to `n` entries of a line, in portions so that large bodies do not pile up; many tombstones take several calls.
local looked, whole_room = 0, room
local function portion()
  if #ids == 0 then return 8 end
  -- The first few tell how large bodies are; where they tell it wrong, this many of a MiB each are still no disaster.
  return math.max(1, math.min(32, math.floor(room * #ids / (whole_room - room))))
end
local function take(line, n, sift)
  local unseen = sift and call('LLEN', line) or n
  while n > 0 and unseen > 0 and room > 0 and looked < 2000 do
    local entries = call('LPOP', line, math.min(n, portion(), unseen))
    if not entries then return n end
    looked = looked + #entries
    local before = #ids
    claim(sift and sift(resolve(entries), line) or resolve(entries))
    n = n - (#ids - before)
    if sift then unseen = unseen - #entries end
  end
  return n
end

-- Whether this session may be the one that serves the suspects, and whether it met one that was parked.
local may_serve, met_suspect = false, false

-- Those of a parked line who may run beside others. A suspect waits to be served alone by this session, which knows it; or where it
-- was, while another one serves suspects, who may not know it.
local function without_suspects(found, line)
  if #found == 0 or not has('crashes') then return found end
  local crashes, others = call('HMGET', Q .. ':crashes', unpack(found)), {}
  for i, id in ipairs(found) do
    if num(crashes[i]) < SUSPECT_FROM then others[#others + 1] = id
    elseif may_serve then
      met_suspect = true
      call('RPUSH', Q .. ':suspects', entry_for(id))
    else call('RPUSH', line, entry_for(id)) end
  end
  return others
end

-- Where jobs of operations are parked that this session knows, by level, however many others somebody has made up.
local function parked_and_known()
  local levels = {}
  local function add(lot)
    local operation, level = parked_there(lot)
    if not operation or call('HEXISTS', me, 'op:' .. operation) == 0 or wrong_type('parked:' .. lot, 'list') then return end
    levels[level] = levels[level] or {}
    table.insert(levels[level], lot)
  end
  if call('HLEN', Q .. ':parked') <= 100 then
    for _, lot in ipairs(call('HKEYS', Q .. ':parked')) do add(lot) end
    return levels
  end
  for _, name in ipairs(call('HKEYS', me)) do
    local operation = string.match(name, '^op:(.+)$')
    for level = 0, operation and 9 or -1 do
      local lot = level == 5 and operation or operation .. ':' .. level
      if call('HEXISTS', Q .. ':parked', lot) == 1 then add(lot) end
    end
  end
  return levels
end

-- The highest level first, but every sixteenth job while several levels wait is one of the lowest. What is parked of a level was in line
-- before what is ready there.
local function take_levels(n)
  local parked = has('parked') and parked_and_known() or {}
  local turn = num(seq[5])

  local function take_level(level, most)
    local lots = parked[level] or {}
    while #lots > 0 and most > 0 and room > 0 and looked < 2000 do
      -- Another one first with each call, so that none waits for ever.
      local at = num(ARGV[2]) % #lots + 1
      local line = Q .. ':parked:' .. lots[at]
      most = take(line, most, without_suspects)
      local left = call('LLEN', line)
      if left > 0 then call('HSET', Q .. ':parked', lots[at], left) else call('HDEL', Q .. ':parked', lots[at]) end
      -- What is left of it was seen, and stays.
      if most > 0 or left == 0 then table.remove(lots, at) end
    end
    if #lots == 0 then parked[level] = nil end
    if most > 0 then take(Q .. ':ready:' .. level, most) end
  end

  while n > 0 and room > 0 and looked < 2000 do
    local highest, lowest
    for level = 9, 0, -1 do
      if parked[level] or call('EXISTS', Q .. ':ready:' .. level) == 1 then
        highest = highest or level
        lowest = level
      end
    end
    if not highest then break end
    if highest == lowest then
      take_level(highest, n)
      break
    end
    local before = #ids
    if turn >= 15 then
      take_level(lowest, 1)
      if #ids > before then turn = 0 end
    else
      take_level(highest, math.min(n, 15 - turn))
      turn = turn + #ids - before
    end
    n = n - (#ids - before)
  end
  call('HSET', Q .. ':seq', 'turn', turn)
end

-- Whether a session holds a suspect and nothing else.
local function serves_one(somebody)
  local theirs = Q .. ':claims:' .. somebody
  if call('TYPE', theirs).ok ~= 'hash' or call('HLEN', theirs) ~= 1 then return false end
  return num(field('crashes', call('HKEYS', theirs)[1])) >= SUSPECT_FROM
end

local function knows_first_suspect()
  local tombs = {}
  for _, entry in ipairs(call('LRANGE', Q .. ':suspects', 0, 99)) do
    tombs[entry] = tombs[entry] or num(field('gone', entry))
    if tombs[entry] < 1 then
      local _, _, _, fragment = header(call('HGET', Q .. ':body', field('stand', entry) or entry))
      local operation = string.match(fragment or '', '^"operation":"([%w_.-]+)"')
      return operation and call('HEXISTS', me, 'op:' .. operation) == 1
    end
    tombs[entry] = tombs[entry] - 1
  end
  return false
end

-- One session at a time serves the suspects, each alone. Answers whether that is all it may have now. Who was to serve them and
-- still holds other jobs is not waited for: a session that holds nothing takes over.
local function serve_suspects()
  local solo, waiting = seq[4], has('suspects')
  may_serve = not solo
  if not waiting and not solo then return false end
  local holding = call('HLEN', mine)
  if solo and solo ~= session and call('ZSCORE', Q .. ':sessions', solo) then
    if serves_one(solo) or (waiting and (holding > 0 or not knows_first_suspect())) then return false end
  end
  if not waiting then
    if solo == session and serves_one(session) then return true end
    call('HDEL', Q .. ':seq', 'solo')
    may_serve = true
    return false
  end
  call('HSET', Q .. ':seq', 'solo', session)
  if holding == 0 then take(Q .. ':suspects', 1) end
  return true
end

local waits = false
if wanted > 0 and num(field('settings', 'paused')) == 1 then
  wanted = 0
  flags = 2
  waits = true
end
if wanted > 0 then
  token = whole(math.max(clock[1] * 1000000 + clock[2], num(seq[1]) + 1))
  usual_claim = claim_text(token, now + usual)
  local has_others = not is_plain and call('EXISTS', Q .. ':ready:0', Q .. ':ready:1', Q .. ':ready:2', Q .. ':ready:3',
    Q .. ':ready:4', Q .. ':ready:6', Q .. ':ready:7', Q .. ':ready:8', Q .. ':ready:9', Q .. ':suspects', Q .. ':parked') > 0
  if not has_others and not seq[4] then
    take(Q .. ':ready:5', wanted)
  elseif not serve_suspects() then
    take_levels(wanted)
    if met_suspect then
      call('HSET', Q .. ':seq', 'solo', session)
      if #ids == 0 and call('HLEN', mine) == 0 then take(Q .. ':suspects', 1) end
    end
  end
  if #ids > 0 then
    each_portion(claims, 1000, 'HSET', mine)
    call('HSET', Q .. ':seq', 'token', token)
    if has('idle') then call('SREM', Q .. ':idle', session) end
    if has('named') then
      local names = call('HMGET', Q .. ':named', unpack(ids))
      for i = 1, #ids do
        -- A capital letter: its name is its own until it starts, and free from now on.
        local lets_go = names[i] and string.find(string.sub(bodies[i], 15, 15), '[DR]')
        if lets_go then leave_name(ids[i]) elseif names[i] then put('running', ids[i], session) end
      end
    end
    add_extras()
    if has('settings') and num(field('settings', 'starts')) == 1 then
      for i, id in ipairs(ids) do
        local _, _, _, fragment = header(bodies[i])
        event('started', id, fragment or NAMELESS, num(field('failures', id)) + 1, worker, 0, 'null')
      end
    end
  else
    token = ''
    if looked >= 2000 and skipped > 0 then flags = 4
    else
      waits = true
      if ARGV[9] == '1' then open = whole(wait_and_grace) .. ':' .. whole(usual) end
    end
    local function is_due(name) return call('ZRANGEBYSCORE', Q .. ':' .. name, '-inf', nowtext, 'LIMIT', 0, 1)[1] end
    if is_due('scheduled') or is_due('retrying') then flags = flags + 1 end
  end
end

local begun = num(ARGV[5])
if token ~= '' and num(ARGV[4]) > 0 then begun = num(token) end
local verdict_text = table.concat(verdicts)
call('HSET', me, 'call', ARGV[2], 'token', token, 'verdicts', verdict_text, 'begun', whole(begun), 'open', open)
-- Who finds nothing is not told of what this call itself has put in line: that is for others.
if waits and fresh > 0 then call('SREM', Q .. ':idle', session) end
settle()
if waits then call('SADD', Q .. ':idle', session) end
return { verdict_text, token, ids, bodies, extras, flags }
