public import Errand

extension RedisBroker {
    /// Looks for broken invariants, in steps of about a millisecond each, with pauses between them: a queue may have any
    /// size, and be in use meanwhile. What is a finding was seen to be so within one script.
    ///
    /// Of each kind the first hundred are told one by one, the others as a number.
    public func audit(_ queue: String, repair: Bool) async throws(BrokerError) -> [Finding] {
        try await audit(queue, repair: repair) { _, _ in }
    }

    /// As ``audit(_:repair:)``, and tells now and then how many of how many members it has looked at.
    package func audit(
        _ queue: String,
        repair: Bool,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(BrokerError) -> [Finding] {
        var audit = QueueAudit(broker: self, queue: queue, repair: repair, progress: progress)
        return try await audit.run()
    }

    /// Whether the server's user may list keys; without that the audit does not find what nothing else names.
    package func mayListKeys() async throws(BrokerError) -> Bool {
        do throws(BrokerError) { _ = try await command(.command("SCAN", "0", "COUNT", "1")) } catch {
            guard error.code == .notPermitted else { throw error }
            return false
        }
        return true
    }

    /// Keys of a pattern, each once; the key space is walked in steps. None where the user may not list them.
    func keys(like pattern: String) async throws(BrokerError) -> Set<String> {
        var keys: Set<String> = []
        guard try await mayListKeys() else { return keys }
        var cursor = "0"
        repeat {
            let page = try await command(.command("SCAN", cursor, "MATCH", pattern, "COUNT", "500")).elements ?? []
            guard page.count == 2, let next = page[0].text else { throw unexpected("a page of keys") }
            keys.formUnion((page[1].elements ?? []).compactMap(\.text))
            cursor = next
        } while cursor != "0"
        return keys
    }
}
