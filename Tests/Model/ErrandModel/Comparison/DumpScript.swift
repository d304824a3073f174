/// Tells the whole state of a queue in Redis as numbers, in the order of ``QueueModel/words(_:bodyLength:)``; then what
/// was published since the last time, and who waits. It also sets the clock for the next step.
///
/// ARGV: numbers of ids, sessions, names, operations; the next time, the next session to look at.
enum DumpScript {
    static let text = """
        local call = redis.call
        local Q, test = KEYS[1], KEYS[1] .. ':test'
        local words = {}
        local function say(...)
          for _, word in ipairs({ ... }) do words[#words + 1] = string.format('%.0f', tonumber(word) or -99) end
        end
        local function digits(text) return text and (string.gsub(text, '%D', '')) end
        local function field(name, id) return call('HGET', Q .. ':' .. name, id) or nil end

        local places, lines = {}, {}
        local function placed(id, kind, where)
          places[id] = places[id] or {}
          table.insert(places[id], kind)
          table.insert(places[id], where)
        end
        local tombs, flat = {}, call('HGETALL', Q .. ':tombstones')
        for i = 1, #flat, 2 do tombs[flat[i]] = tonumber(flat[i + 1]) end
        local function walk(name, kind, where)
          local ids = {}
          for _, entry in ipairs(call('LRANGE', Q .. ':' .. name, 0, -1)) do
            if (tombs[entry] or 0) > 0 then tombs[entry] = tombs[entry] - 1
            else
              local id = field('alias', entry) or entry
              ids[#ids + 1] = digits(id)
              placed(id, kind, where)
            end
          end
          if #ids > 0 then lines[#lines + 1] = { kind, where, ids } end
        end
        for priority = 0, 9 do walk('ready:' .. priority, 1, priority) end
        walk('quarantined', 2, 0)
        for operation = 0, ARGV[4] - 1 do
          for priority = 0, 9 do
            walk('unroutable:op' .. operation .. (priority == 5 and '' or ':' .. priority), 3, operation * 10 + priority)
          end
        end
        for name, kind in pairs({ scheduled = 4, retrying = 5, dead = 8 }) do
          local members = call('ZRANGE', Q .. ':' .. name, 0, -1, 'WITHSCORES')
          for i = 1, #members, 2 do placed(members[i], kind, members[i + 1]) end
        end
        for session = 0, ARGV[2] - 1 do
          for _, id in ipairs(call('HKEYS', Q .. ':claims:session-' .. session)) do placed(id, 6, session) end
        end
        local successors = {}
        flat = call('HGETALL', Q .. ':successors')
        for i = 1, #flat, 2 do
          local due, id = string.match(flat[i + 1], '^(%d+):(.+)$')
          successors[flat[i]] = { digits(id), due }
          placed(id, 7, digits(flat[i]))
        end

        local endings = { f = 0, c = 1, r = 2, x = 3 }
        local stops = { cancel = 1, replace = 2 }
        for n = 0, ARGV[1] - 1 do
          local id = 'j' .. string.format('%02d', n)
          local body = field('body', id)
          if body then
            local successor = successors[id] or { -1, 0 }
            say(10, n, string.sub(body, 1, 13), #body, field('failures', id) or 0, field('crashes', id) or 0,
              field('solo_crashes', id) or 0, field('crashes', id) and 1 or 0, stops[field('stops', id)] or 0, successor[1], successor[2],
              #(field('errors', id) or ''), digits(field('unique:of', id)) or -1)
            say(unpack(places[id] or { 0 }))
            say(digits(field('running', id)) or -1)
          elseif places[id] then say(13, n, unpack(places[id])) end
          local how = field('ended', id) or field('ended:old', id)
          if how then say(11, n, endings[how]) end
          local record = field('history', id)
          if record then
            local line, result = string.match(record, '^%l([^\\n]*)\\n(.*)$')
            say(12, n, string.match(line, '"at_ms":(%d+),"duration_ms"'), #line, #result)
          end
        end
        for _, line in ipairs(lines) do say(20, line[1], line[2], #line[3], unpack(line[3])) end

        for n = 0, ARGV[2] - 1 do
          local session = 'session-' .. n
          local ends = call('ZSCORE', Q .. ':sessions', session)
          if ends then
            local me = call('HMGET', Q .. ':session:' .. session, 'pid', 'lease', 'beat', 'begun', 'call', 'token', 'verdicts', 'open')
            local verdicts, came_late = me[7] or '', me[7] == 'h'
            if came_late then verdicts = '' end
            say(30, n, me[1], me[2], ends, me[3], me[4] or 0, me[5] or -1, me[6] and me[6] ~= '' and me[6] or 0, #verdicts)
            for verdict in string.gmatch(verdicts, '.') do say(verdict) end
            say(came_late and 1 or 0, string.match(me[8] or '', '^(%d+):') or -1, string.match(me[8] or '', '^h(%d+)$') or 0)
            local claims = call('HGETALL', Q .. ':claims:' .. session)
            say(#claims / 2)
            for i = 1, #claims, 2 do
              local token, deadline, made = string.match(claims[i + 1], '^(%d+):(%d+):?(%d*)$')
              say(digits(claims[i]), token, deadline, made ~= '' and made or math.floor(token / 1000))
            end
          end
        end
        say(40)
        for n = 0, ARGV[3] - 1 do say(digits(field('unique', 'name ' .. n)) or -1) end
        say(50, field('runtime', 'beat') or -1, field('runtime', 'lease') or 0, field('runtime', 'grace') or 0, field('runtime', 'gap') or -1, field('runtime', 'leap') or 0,
          field('runtime', 'token') or 0, field('runtime', 'turn') or 0, digits(field('runtime', 'quarantine_owner')) or -1)
        say(60, field('settings', 'paused') or 0, field('settings', 'starts') or 0, field('settings', 'maximum') or 10000000,
          field('settings', 'remember_ms') or 60000, field('settings', 'keep_ms') or 86400000, 70)
        for _, what in ipairs({ 'pushed', 'dropped', 'replaced', 'finished', 'failed', 'timed_out', 'cancelled', 'retried',
          'recovered', 'released', 'dead', 'dead_trimmed' }) do say(field('counters', what) or 0) end

        local published = call('LRANGE', test .. ':published', 0, -1)
        call('DEL', test .. ':published')
        call('HSET', test, 'now', ARGV[5], 'look', ARGV[6])
        return { table.concat(words, ' '), published, call('SMEMBERS', Q .. ':idle') }
        """

    /// Removes every key of a queue.
    static let wipe = """
        local cursor = '0'
        for _, key in ipairs(redis.call('KEYS', string.gsub(KEYS[1], '[{}]', '\\\\%0') .. '*')) do redis.call('UNLINK', key) end
        return 1
        """
}
