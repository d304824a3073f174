-- The reports of an exchange: each one ends a claim, if it comes from the session that holds the claim.
local outcomes, apply_reports = {}
do
  local done, ended_claims = {}, {}
  local finished, released = {}, {}
  -- Whether no job has side records: then a finish only removes the body.
  local bare

  -- What reports do that do not come together with others of finished jobs.
  local verbs = {}
  on_use(verbs, function()
    local function retry(id, fragment, attempt, duration, delay, line)
      call('ZADD', key('retrying'), whole(now + num(delay)), id)
      if line then history.keep_error(id, line) end
      delete_field('running', id)
      event('retrying', id, fragment, attempt, worker, duration, 'null')
    end

    -- The job was asked to stop, and has stopped.
    local function cancelled(id, fragment, attempt, duration, failure)
      local line = event('cancelled', id, fragment, attempt, worker, duration, failure or 'null')
      count('cancelled')
      if not (field('stops', id) == 'replace' and endings.superseded(id, fragment, attempt, worker, line)) then endings.end_job(id, 'c', line) end
    end

    local function failed(kind, id, fragment, attempt, duration, failure, delay)
      if field('stops', id) == 'cancel' then return cancelled(id, fragment, attempt, duration, failure) end
      local line = event(kind, id, fragment, attempt, worker, duration, failure)
      count(kind)
      if endings.superseded(id, fragment, attempt, worker, line) then return end
      set_field('failures', id, num(attempt))
      if delay ~= '' then
        retry(id, fragment, attempt, duration, delay, line)
        count('retried')
      else
        endings.die(id, fragment, attempt, worker, duration, failure)
      end
    end

    local function finish(id, fragment, attempt, duration, result)
      local line = event('finished', id, fragment, attempt, worker, duration, 'null')
      count('finished')
      if not bare then return endings.end_job(id, 'f', result ~= '' and line, result) end
      if result ~= '' then history.keep(id, 'f', line, result) end
      remember(id, 'f')
      finished[#finished + 1] = id
    end

    -- The run was told to come back later, and so is the whole group of the job, which is the first one to run then.
    local LONGEST_REST = 2592000000
    local function rest_group(id, fragment, attempt, duration, delay)
      local body = call('HGET', key('body'), id)
      local _, _, _, _, _, _, group = header(body)
      if not group then return retry(id, fragment, attempt, duration, delay) end
      rates.rest(group, now + math.min(num(delay), LONGEST_REST))
      event('retrying', id, fragment, attempt, worker, duration, 'null')
      moves.requeue(id, body)
    end

    local function make_unroutable(id, fragment, attempt)
      if endings.superseded(id, fragment, attempt, worker) then return end
      if field('stops', id) then return cancelled(id, fragment, attempt, 0) end
      local operation = string.match(fragment, '^"operation":"([%w_.-]+)"')
      if not operation then return endings.die(id, NAMELESS, attempt, worker, 0, '"its operation cannot be read; delete it and push it again"') end
      local group = unroutable_field(operation, call('HGET', key('body'), id))
      call('RPUSH', key('unroutable:' .. group), entry_for(id))
      set_field('unroutable', group, num(field('unroutable', group)) + 1)
      delete_field('running', id)
      fresh = fresh + 1
    end

    function verbs.apply(id, verb, attempt, duration, fragment, failure, result, delay)
      fragment = sound_fragment(fragment)
      if verb == 'f' then finish(id, fragment, attempt, duration, result)
      elseif verb == 'e' then failed('failed', id, fragment, attempt, duration, failure, delay)
      elseif verb == 't' then failed('timed_out', id, fragment, attempt, duration, failure, delay)
      elseif verb == 'c' then cancelled(id, fragment, attempt, duration, failure)
      elseif verb == 'r' then released[#released + 1] = id
      elseif verb == 'u' then make_unroutable(id, fragment, attempt)
      elseif verb == 's' then
        if field('stops', id) then cancelled(id, fragment, attempt, duration)
        elseif not endings.superseded(id, fragment, attempt, worker) then retry(id, fragment, attempt, duration, delay ~= '' and delay or '0') end
      elseif verb == 'g' then
        if field('stops', id) then cancelled(id, fragment, attempt, duration)
        elseif not endings.superseded(id, fragment, attempt, worker) then rest_group(id, fragment, attempt, duration, delay ~= '' and delay or '0') end
      else endings.die(id, fragment, attempt, worker, duration, failure) end
    end
  end)

  function apply_reports()
    bare = not special or call('EXISTS', key('unique:of'), key('failures'), key('crashes'), key('errors'), key('stops'),
      key('progress'), key('checkpoints'), key('blocked'), key('workflow:of')) == 0
    local held = call('HMGET', mine, unpack(asked))
    local good, ended_count, has_rules = nil, 0, has('flow')

    -- An id that is in a ready list twice, because a person has written it there, may run in two sessions. It ends once,
    -- while its end is remembered.
    local ended_recently, ended_earlier
    local function has_ended(i)
      if not ended_recently then
        ended_recently = has('ended') and call('HMGET', key('ended'), unpack(asked)) or {}
        ended_earlier = has('ended:old') and call('HMGET', key('ended:old'), unpack(asked)) or {}
      end
      return ended_recently[i] or ended_earlier[i]
    end

    -- Whether the report of an id is its session's, which holds the claim. The claim is over then.
    local function ends_claim(i, start, duration, is_released)
      local id, claim = asked[i], held[i]
      if not claim or done[id] or (claim ~= good and string.find(claim, start, 1, true) ~= 1) then return false end
      -- Claims that were made together mostly have one text.
      good = claim
      done[id] = true
      ended_count = ended_count + 1
      ended_claims[ended_count] = id
      if has_rules then
        free_slot(id, claim, is_released)
        run_time.note(claim, duration, not is_released)
      end
      return true
    end

    -- The events of similar jobs differ only in ids and durations; this is event() for many of them.
    local function tell_finished(at, n, before, accepted)
      local fragment, durations = sound_fragment(ARGV[at + 2]), at + 3 + n - before
      local head, tail = '{"event":"finished","id":"', ',"error":null}'
      local middle = '",' .. fragment .. ',"queue":"' .. queue .. '","attempt":' .. ARGV[at + 3] .. ',"worker":' .. worker
        .. ',"at_ms":' .. nowtext .. ',"duration_ms":'
      local between, texts, last = tail .. '\n' .. head, { head }, 1
      for i = before + 1, before + n do
        if outcomes[i] == '1' then
          texts[last + 1], texts[last + 2], texts[last + 3], texts[last + 4] = asked[i], middle, ARGV[durations + i], between
          last = last + 4
        end
      end
      texts[last] = tail
      gather_event(table.concat(texts), accepted)
    end

    -- Removes the bodies of jobs, which are the accepted ones of a portion. If all were there, none has ended otherwise.
    local function remove_bodies(ids, n, before)
      if call('HDEL', key('body'), unpack(ids)) == #ids then return ids end
      local left = {}
      for i = before + 1, before + n do
        if outcomes[i] == '1' and has_ended(i) then outcomes[i] = '0' end
        if outcomes[i] == '1' then left[#left + 1] = asked[i] end
      end
      return left
    end

    local function finish_together(at, n, before)
      local start, durations, ids, accepted = ARGV[at + 1] .. ':', at + 3 + n - before, {}, 0
      good = nil
      for i = before + 1, before + n do
        if ends_claim(i, start, ARGV[durations + i]) and (bare or not has_ended(i)) then
          accepted = accepted + 1
          ids[accepted] = asked[i]
          outcomes[i] = '1'
        else
          outcomes[i] = '0'
        end
      end
      if bare and accepted > 0 then ids = remove_bodies(ids, n, before) end
      if #ids == 0 then return end
      if bare then remember_all(ids, 1, 'f') else
        for _, id in ipairs(ids) do endings.end_job(id, 'f') end
      end
      if is_heard(#ids) then tell_finished(at, n, before, #ids) end
      count('finished', #ids)
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
        local taken = ends_claim(reported, ARGV[at + 2] .. ':', ARGV[at + 5], string.find(ARGV[at + 3], '^[ru]$'))
          and not has_ended(reported)
        outcomes[reported] = taken and '1' or '0'
        if taken then
          verbs.apply(ARGV[at + 1], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5], ARGV[at + 6], ARGV[at + 7], ARGV[at + 8], ARGV[at + 9])
          is_plain = false
        end
      end
    end
    -- Released from the last to the first, so that the first is at the head again.
    for i = #released, 1, -1 do
      local body = endings.end_claim(released[i], session, 'released')
      if body then moves.requeue(released[i], body) end
    end
    each_portion(finished, 1000, 'HDEL', key('body'))
    each_portion(ended_claims, 1000, 'HDEL', mine)
    if has_rules then run_time.settle() end
  end
end
