/// Returns the whole state of a queue in Redis as numbers, in the order of ``StateDump``; then the messages published since
/// the last call, and the idle sessions. It also sets the clock for the next step.
///
/// ARGV: numbers of ids, sessions, names; the next time, the next session to look at.
enum DumpScript {
    static let text = prelude + loops

    /// Says the numbers of ``StateFields``.
    private static let loops = """
        for n = 0, ARGV[1] - 1 do
          local id = 'j' .. string.format('%02d', n)
          local body = field('body', id)
          if body then
            say(10, n)
            \(say(StateFields.job))
          elseif places[id] then say(13, n, unpack(places[id])) end
          local how = field('ended', id) or field('ended:old', id)
          if how then
            say(11, n)
            \(say(StateFields.ended))
          end
          local record = field('history', id)
          if record then
            local line, result = string.match(record, '^%l([^\\n]*)\\n(.*)$')
            say(12, n)
            \(say(StateFields.record))
          end
        end
        for _, line in ipairs(lines) do say(20, line[1], #line[2], unpack(line[2])) end
        for n = 0, ARGV[2] - 1 do
          local session = 'session-' .. n
          local ends = call('ZSCORE', Q .. ':sessions', session)
          if ends then
            local function me(name) return field('session:' .. session, name) end
            local outcomes, claims = {}, {}
            for outcome in string.gmatch(me('outcomes') or '', '%d') do outcomes[#outcomes + 1] = outcome end
            local flat = call('HGETALL', Q .. ':claims:' .. session)
            for i = 1, #flat, 2 do
              local token, deadline, made = string.match(flat[i + 1], '^(%d+):(%d+):?(%d*)')
              add(claims, digits(flat[i]), token, deadline, made ~= '' and made or math.floor(token / 1000))
            end
            say(30, n)
            \(say(StateFields.session))
          end
        end
        for _, w in ipairs({ \(Universe.workflows.map { "'\($0)'" }.joined(separator: ", ")) }) do
          local function of(name) return call('HGET', Q .. ':workflow:' .. w, name) or nil end
          local function about(name, n) return call('HGET', Q .. ':' .. name .. ':' .. w, n) or nil end
          if of('state') then
            local members, letters = {}, { f = 1, c = 2, e = 3, x = 4, k = 5, i = 6, d = 7 }
            for n = 0, call('HLEN', Q .. ':members:' .. w) - 1 do
              local ends, output = about('ends', n) or '', about('outputs', n)
              local unmet = call('ZRANGEBYLEX', Q .. ':needs:' .. w, '[' .. n .. '>', '(' .. n .. '?')
              add(members, digits(about('jobs', n) or '-'), call('SISMEMBER', Q .. ':open:' .. w, n),
                call('SISMEMBER', Q .. ':dead:' .. w, n), letters[string.sub(ends, 1, 1)] or 0,
                ends == '' and 0 or string.sub(ends, 2), #unmet, output and #output or -1)
            end
            say(35, digits(w))
            \(say(StateFields.workflow))
          end
        end
        local work, released = {}, {}
        for _, item in ipairs(call('LRANGE', Q .. ':workflow:work', 0, -1)) do
          local w, n = string.match(item, '^(%w+) (%w+)')
          add(work, digits(w), n == 'r' and -1 or n)
        end
        for _, id in ipairs(call('LRANGE', Q .. ':blocked:released', 0, -1)) do add(released, digits(id)) end
        local holders = {}
        for n = 0, ARGV[3] - 1 do add(holders, digits(field('unique', 'name ' .. n)) or -1) end
        local windows, at = {}, tonumber(call('HGET', test, 'now'))
        for n = 0, ARGV[3] - 1 do
          local ends = string.match(field('throttled', 'name ' .. n) or '', '^%d+:(%d+):')
          add(windows, ends and tonumber(ends) > at and ends or -1)
        end
        local arrivals, rests = {}, {}
        for _, group in ipairs({ \(([""] + Universe.groups).map { "'\($0)'" }.joined(separator: ", ")) }) do
          local time = tonumber(call('ZSCORE', Q .. ':tat', group) or 0)
          add(arrivals, time > at * 1000 and time or 0)
          add(rests, call('ZSCORE', Q .. ':resting', group) or -1)
        end
        local slots, held_back, blockers = {}, {}, {}
        for _, group in ipairs({ \(Universe.groups.map { "'\($0)'" }.joined(separator: ", ")) }) do
          add(slots, call('SCARD', Q .. ':held:' .. group))
          add(blockers, digits(field('blocked', group)) or -1)
          local levels = 0
          for level in string.gmatch(field('held_back', group) or '', '%d') do levels = levels + 2 ^ level end
          add(held_back, levels)
        end
        local times = {}
        for _, node in ipairs({ \(StateFields.nodes.map { "{ '\($0.key)', '\($0.child)' }" }.joined(separator: ", ")) }) do
          add(times, call('ZSCORE', Q .. ':groups:' .. node[1], node[2]) or -1)
        end
        local mean_run = tonumber(call('HGET', Q .. ':runtime', 'mean_run') or 0)
        say(40, 0)
        \(say(StateFields.queue))

        local published = call('LRANGE', test .. ':published', 0, -1)
        call('DEL', test .. ':published')
        call('HSET', test, 'now', ARGV[4], 'look', ARGV[5])
        return { table.concat(words, ' '), published, call('SMEMBERS', Q .. ':idle') }
        """

    private static func say(_ fields: [StateField<some Any>]) -> String {
        fields.map { "say(\($0.lua))" }.joined(separator: "\n")
    }

    /// Reads places of jobs, ready lists and successors.
    private static let prelude = """
        local call = redis.call
        local Q, test = KEYS[1], KEYS[1] .. ':test'
        local words = {}
        local function say(...)
          for _, word in ipairs({ ... }) do words[#words + 1] = string.format('%.0f', tonumber(word) or -99) end
        end
        local function add(list, ...)
          for _, member in ipairs({ ... }) do list[#list + 1] = member end
        end
        local function digits(text) return text and (string.gsub(text, '%D', '')) end
        local function field(name, id) return call('HGET', Q .. ':' .. name, id) or nil end

        local places, lines = {}, {}
        local function placed(id, kind, where)
          places[id] = places[id] or {}
          add(places[id], kind, where)
        end
        local tombs, flat = {}, call('HGETALL', Q .. ':tombstones')
        for i = 1, #flat, 2 do tombs[flat[i]] = tonumber(flat[i + 1]) end
        for index, name in ipairs({ \(StateFields.lines.map { "'\($0.key)'" }.joined(separator: ", ")) }) do
          local ids = {}
          for _, entry in ipairs(call('LRANGE', Q .. ':' .. name, 0, -1)) do
            if (tombs[entry] or 0) > 0 then tombs[entry] = tombs[entry] - 1
            else
              local id = field('alias', entry) or entry
              ids[#ids + 1] = digits(id)
              placed(id, 1, index - 1)
            end
          end
          if #ids > 0 then lines[#lines + 1] = { index - 1, ids } end
        end
        for name, kind in pairs({ scheduled = 4, retrying = 5, dead = 8 }) do
          local members = call('ZRANGE', Q .. ':' .. name, 0, -1, 'WITHSCORES')
          for i = 1, #members, 2 do placed(members[i], kind, members[i + 1]) end
        end
        for session = 0, ARGV[2] - 1 do
          for _, id in ipairs(call('HKEYS', Q .. ':claims:session-' .. session)) do placed(id, 6, session) end
        end
        for _, id in ipairs(call('HKEYS', Q .. ':blocked:jobs')) do placed(id, 9) end
        local function places_in_workflows(id)
          local numbers = {}
          for w, n in string.gmatch(field('workflow:of', id) or '', '(%w+):(%d+)') do add(numbers, digits(w), n) end
          return numbers
        end
        local successors = {}
        flat = call('HGETALL', Q .. ':successors')
        for i = 1, #flat, 2 do
          local due, id = string.match(flat[i + 1], '^(%d+):(.+)$')
          successors[flat[i]] = { digits(id), due }
          placed(id, 7, digits(flat[i]))
        end

        """

    /// Removes every key of a queue.
    static let wipe = """
        local cursor = '0'
        for _, key in ipairs(redis.call('KEYS', string.gsub(KEYS[1], '[{}]', '\\\\%0') .. '*')) do redis.call('UNLINK', key) end
        return 1
        """
}
