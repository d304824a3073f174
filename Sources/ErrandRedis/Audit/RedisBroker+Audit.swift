public import Errand

extension RedisBroker {
    /// Finds broken invariants, in steps of about a millisecond each, with pauses between them: the queue may have any
    /// size and be in use. Each finding was confirmed within one script.
    ///
    /// Reports the first hundred findings of a kind individually, and the number of the others.
    public func audit(_ queue: String, repair: Bool) async throws(BrokerError) -> [Finding] {
        try await audit(queue, repair: repair) { _, _ in }
    }

    /// Does the same as ``audit(_:repair:)``, and regularly reports how many members of how many it has checked.
    package func audit(
        _ queue: String,
        repair: Bool,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(BrokerError) -> [Finding] {
        var audit = QueueAudit(broker: self, queue: queue, repair: repair, progress: progress)
        return try await audit.run()
    }

    /// Returns whether a server's user may list keys. Without this permission the audit does not find keys that no other
    /// key lists.
    package func mayListKeys(at place: CommandPlace = .anywhere) async throws(BrokerError) -> Bool {
        do throws(BrokerError) { _ = try await command(.command("SCAN", "0", "COUNT", "1"), for: place) } catch {
            guard error.code == .notPermitted else { throw error }
            return false
        }
        return true
    }

    /// Returns the keys of a queue, or of all queues, that match a pattern, each once. Walks the key space in steps.
    /// Returns none if the user may not list keys.
    func keys(like pattern: String, for place: CommandPlace? = nil) async throws(BrokerError) -> Set<String> {
        var keys: Set<String> = []
        guard try await mayListKeys() else { return keys }
        if let place { return try await self.keys(like: pattern, at: place) }
        let servers = try await allServers()
        for server in servers {
            do throws(BrokerError) { keys.formUnion(try await self.keys(like: pattern, at: .server(server))) } catch {
                // The others have keys as well, and the doctor names those that do not reply.
                guard servers.count > 1, error.code == .notReachable else { throw error }
            }
        }
        return keys
    }

    private func keys(like pattern: String, at place: CommandPlace) async throws(BrokerError) -> Set<String> {
        var keys: Set<String> = []
        var cursor = "0"
        repeat {
            let scan = CommandWriter.command("SCAN", cursor, "MATCH", pattern, "COUNT", "500")
            let page = try await command(scan, for: place).elements ?? []
            guard page.count == 2, let next = page[0].text else { throw unexpected("a page of keys") }
            keys.formUnion((page[1].elements ?? []).compactMap(\.text))
            cursor = next
        } while cursor != "0"
        return keys
    }
}
