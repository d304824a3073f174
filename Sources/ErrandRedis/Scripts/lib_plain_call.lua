-- The call of a session with little to do in a queue of plain jobs: it reports a few that have finished, and claims a few. It
-- comes before everything that other calls need. All is read before the first write, so a call that meets anything else, such
-- as a job that is missing, a setting, or a wrong type of a key that it uses, goes on with the whole exchange.
do
  local pcall = redis.pcall
  local MOST, MOST_BYTES = 15, 65536
  local session, call_number, wanted = ARGV[1], ARGV[2], num(ARGV[3])
  local me, mine = session_key(session), claims_key(session)

  -- The finished jobs that the call reports, all alike.
  local function read_reports()
    local count = ARGV[10] == '0' and 0 or ARGV[10] == '1' and num(ARGV[11])
    if not count or count < 0 or count > MOST or (ARGV[10] == '1' and count == 0) then return end
    if #ARGV ~= (count == 0 and 10 or 14 + 2 * count) then return end
    return { unpack(ARGV, 15, 14 + count) }
  end
  local function is_known_session()
    local last = pcall('HMGET', me, 'call', 'dispatch')
    if last.err or type(pcall('ZSCORE', key('sessions'), session)) ~= 'string' then return false end
    local next_call = num(last[1]) + (string.find(last[2] or '', '^h') and 2 or 1)
    return num(call_number) >= next_call
  end
  local function is_unusual()
    local ready = Q .. ':ready:'
    return call('EXISTS', key('settings'), key('flow'), key('resting'), key('quarantined'), key('unroutable'), key('backlog'),
      ready .. 0, ready .. 1, ready .. 2, ready .. 3, ready .. 4, ready .. 6, ready .. 7, ready .. 8, ready .. 9,
      key('unique:of'), key('failures'), key('crashes'), key('errors'), key('stops'), key('progress'), key('checkpoints'),
      key('blocked'), key('workflow:of'), key('alias'), key('tombstones')) > 0
  end
  -- Whether the keys that are only written have their types.
  local function is_sound()
    for _, name in ipairs({ 'counters', 'ended' }) do
      if type(pcall('HLEN', key(name))) ~= 'number' then return false end
    end
    return type(pcall('SCARD', key('idle'))) == 'number'
  end
  -- Whether the session holds the claims of all these jobs, each of them once, and no job is missing.
  local function are_held(ids, seen)
    if #ids == 0 then return type(pcall('HLEN', mine)) == 'number' end
    local claims, stored = pcall('HMGET', mine, unpack(ids)), pcall('HMGET', key('body'), unpack(ids))
    for n, id in ipairs(ids) do
      if not (claims[n] and stored[n]) or seen[id] or string.find(claims[n], ARGV[12] .. ':', 1, true) ~= 1 then return false end
      seen[id] = true
    end
    return true
  end
  -- The first jobs of the ready list with their bodies and timeouts; nil if any is not plain.
  local function read_ready(seen)
    local ids, timeouts, bytes = pcall('LRANGE', key('ready:5'), 0, math.min(wanted, MOST + 1) - 1), {}, 0
    if ids.err or #ids > MOST then return end
    local bodies = #ids > 0 and pcall('HMGET', key('body'), unpack(ids)) or {}
    for n, id in ipairs(ids) do
      local priority, timeout, _, _, expiry, cost, group = header(bodies[n])
      if not priority or expiry or cost or group or seen[id] or #id > 64 or string.find(id, '[^%w_-]') then return end
      timeouts[n], seen[id], bytes = timeout, true, bytes + #bodies[n]
    end
    if bytes <= MOST_BYTES then return ids, bodies, timeouts end
  end

  local function finish(ids)
    local fragment, attempt, worker = sound_fragment(ARGV[13]), ARGV[14], '"' .. session .. '"'
    remember_all(ids, 1, 'f')
    count('finished', #ids)
    for n, id in ipairs(ids) do event('finished', id, fragment, attempt, worker, ARGV[14 + #ids + n], 'null') end
    call('HDEL', key('body'), unpack(ids))
    call('HDEL', mine, unpack(ids))
  end
  local function claim(ids, timeouts, former_token)
    local token, claims = whole(math.max(clock[1] * 1000000 + clock[2], num(former_token) + 1)), {}
    for n, id in ipairs(ids) do
      claims[2 * n - 1], claims[2 * n] = id, claim_text(token, hard_deadline(timeouts[n], num(ARGV[6]), num(ARGV[7])))
    end
    call('HSET', mine, unpack(claims))
    call('HSET', key('runtime'), 'token', token)
    call('LPOP', key('ready:5'), #ids)
    call('SREM', key('idle'), session)
    return token
  end

  local function call_plainly(reports)
    if not is_known_session() or is_unusual() or not is_sound() then return end
    local seen = {}
    if not are_held(reports, seen) then return end
    local ids, bodies, timeouts = {}, {}, {}
    if wanted > 0 then ids, bodies, timeouts = read_ready(seen) end
    local runtime = pcall('HMGET', key('runtime'), 'token', 'quarantine_owner', 'beat', 'lease', 'gap')
    if not ids or runtime.err or runtime[2] then return end
    -- A call that claims notices an outage.
    if runtime[5] or (runtime[3] and math.abs(now - num(runtime[3])) > num(runtime[4]) / 2) then return end
    local waits = wanted > 0 and #ids == 0
    local scheduled, retrying = waits and first_due('scheduled', nowtext) or {}, waits and first_due('retrying', nowtext) or {}
    if scheduled.err or retrying.err then return end

    known.settings = false
    if #reports > 0 then finish(reports) end
    local token = #ids > 0 and claim(ids, timeouts, runtime[1]) or ''
    local begun = token ~= '' and num(ARGV[4]) > 0 and num(token) or num(ARGV[5])
    local terms, outcomes = waits and ARGV[9] == '1' and dispatch_terms_of(num(ARGV[6]), num(ARGV[7])) or '', string.rep('1', #reports)
    keep_call(me, call_number, token, outcomes, begun, terms)
    flush_ended()
    publish()
    add_totals()
    if waits then call('SADD', key('idle'), session) end
    return { outcomes, token, ids, bodies, {}, (scheduled[1] or retrying[1]) and 1 or 0 }
  end
  local reports = read_reports()
  local reply = reports and (wanted > 0 or #reports > 0) and call_plainly(reports)
  if reply then return reply end
end
