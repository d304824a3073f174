package import ErrandRedis

/// The scripts in the wording of the checks: time stands still until the check moves it, what would be published is
/// written down, and the choice of a random session is made by the check: of those that wait for work, who has
/// waited longest.
///
/// Only the line `local call = redis.call` is another one; everything else is what is shipped.
package enum TestScripts {
    private static let line = "local call = redis.call\n"

    /// A change of the scripts' text, made on purpose to see the checks go red.
    package struct Mutation: Sendable {
        package let script: String
        package let old: String
        package let new: String

        package init(script: String, old: String, new: String) {
            self.script = script
            self.old = old
            self.new = new
        }
    }

    package struct NoMatch: Error, CustomStringConvertible {
        package let description: String
    }

    /// Makes the overrides.
    ///
    /// - Parameters:
    ///   - tombstones: Whether even short lines keep tombstones, as only long ones do otherwise.
    ///   - mutations: Changes to make besides. A text that is not in any script is an error.
    package static func make(tombstones: Bool = false, mutations: [Mutation] = []) throws -> ScriptOverrides {
        let mutations = mutations + (tombstones ? [alwaysTombstones] : [])
        var matched = Set<Int>()
        let overrides = try ScriptOverrides { name, text in
            guard text.contains(line) else { throw NoMatch(description: "\(name) has no line \(line)") }
            // What stands for the commands writes, also where the script does not.
            var text = text.replacing(line, with: wrapper).replacing("flags=no-writes", with: "flags=allow-oom")
            for (index, mutation) in mutations.enumerated() where mutation.script == "*" || mutation.script == name {
                guard text.contains(mutation.old) else { continue }
                matched.insert(index)
                text = text.replacing(mutation.old, with: mutation.new)
            }
            return text
        }
        if let missed = mutations.indices.first(where: { !matched.contains($0) }) {
            throw NoMatch(description: "\(mutations[missed].script) does not hold: \(mutations[missed].old)")
        }
        return overrides
    }

    private static let alwaysTombstones = Mutation(
        script: "*",
        old: "<= 1000 and try('LREM'",
        new: "<= 0 and try('LREM'"
    )

    /// What stands for Redis' commands. The generations of ended ids expire by the check's clock, too.
    private static let wrapper = """
        local test = KEYS[1] .. ':test'
        do
          local at = tonumber(redis.call('HGET', test, 'now') or 0)
          local all = redis.call('HGETALL', test)
          for i = 1, #all, 2 do
            local name = string.match(all[i], '^expires (.*:ended.*)$') or string.match(all[i], '^expires (.*:left:.*)$')
              or string.match(all[i], '^expires (.*:tat)$')
            if name and tonumber(all[i + 1]) <= at then redis.call('DEL', name) end
          end
        end
        local function call(command, ...)
          local key, value = ...
          if command == 'TIME' then
            local at = tonumber(redis.call('HGET', test, 'now'))
            return { string.format('%.0f', math.floor(at / 1000)), string.format('%.0f', at % 1000 * 1000) }
          elseif command == 'PUBLISH' then
            redis.call('RPUSH', test .. ':published', key, value)
            return 1
          elseif command == 'SADD' and key == KEYS[1] .. ':idle' then
            redis.call('ZADD', test .. ':idle', 'NX', redis.call('HINCRBY', test, 'came', 1), value)
          elseif command == 'SREM' and key == KEYS[1] .. ':idle' then
            redis.call('ZREM', test .. ':idle', select(2, ...))
          elseif command == 'SPOP' and key == KEYS[1] .. ':idle' then
            local first = redis.call('ZRANGE', test .. ':idle', 0, value - 1)
            for _, session in ipairs(first) do
              redis.call('ZREM', test .. ':idle', session)
              redis.call('SREM', key, session)
            end
            return first
          elseif command == 'PEXPIRE' then
            redis.call('HSET', test, 'expires ' .. key, string.format('%.0f', redis.call('HGET', test, 'now') + value))
            return 1
          elseif command == 'RENAME' then
            redis.call('HSET', test, 'expires ' .. value, redis.call('HGET', test, 'expires ' .. key))
          elseif command == 'ZRANDMEMBER' then
            return redis.call('HGET', test, 'look')
          end
          return redis.call(command, ...)
        end

        """
}
