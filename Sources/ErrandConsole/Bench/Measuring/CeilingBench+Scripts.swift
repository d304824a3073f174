import ErrandRedis

/// The scripts that `redis-benchmark` calls: those of the broker, slightly changed.
extension CeilingBench {
    private func text(of name: String) async throws -> ArraySlice<UInt8> {
        let script = Script.all.first { $0.name == name }
        let text = (try await stage.broker.isCluster() ? script?.sharded : script)?.text ?? []
        return text.drop { $0 != UInt8(ascii: "\n") }
    }

    /// Loads a script with additional lines at its beginning.
    func load(_ script: String, head: String, for queue: String) async throws -> String {
        let text = try await text(of: script)
        return try await stage.broker.load(Array(("#!lua\n" + head).utf8) + text, for: .queue(queue))
    }

    /// Loads a script that runs the exchange script twice: first to claim jobs, then to report them.
    func load(twice script: String, for queue: String) async throws -> String {
        let text = try await text(of: script)
        let both = """

            end
            local number = redis.call('HINCRBY', KEYS[1] .. ':ceiling', 'calls', 2)
            local got = exchange(KEYS, { ARGV[1], tostring(number), '50', '8', '0', '7500', '17500', '8388608', '0', '0' })
            local jobs = #got[3]
            local report = { ARGV[1], tostring(number + 1), '0', '0', '0', '7500', '17500', '8388608', '0', jobs > 0 and '1' or '0' }
            report[11], report[12], report[13], report[14] = tostring(jobs), got[2], '"operation":"noop","name":null', '1'
            for i, id in ipairs(got[3]) do
              report[14 + i] = id
              report[14 + jobs + i] = '0'
            end
            return exchange(KEYS, report)
            """
        return try await stage.broker.load(
            Array("#!lua flags=allow-oom\nlocal function exchange(KEYS, ARGV)\n".utf8) + text
                + Array(both.utf8),
            for: .queue(queue)
        )
    }
}
