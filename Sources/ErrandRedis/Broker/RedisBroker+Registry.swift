package import Errand

extension RedisBroker {
    /// Queues that have keys and are not in the registry, sorted by name: no console would show them.
    ///
    /// Walks over the server's whole key space, a thousand keys a call.
    package func unlistedQueues() async throws(BrokerError) -> [String] {
        let listed = Set(try await queues())
        var found: Set<String> = []
        var cursor = "0"
        repeat {
            let words = CommandWriter.command("SCAN", cursor, "MATCH", "errand:{*}:*", "COUNT", "1000")
            let page = try await command(words).elements ?? []
            guard page.count == 2, let next = page[0].text else { throw unexpected("a SCAN page") }
            for key in (page[1].elements ?? []).compactMap(\.text) {
                if let queue = KeySpace.queue(in: key), QueueName.isValid(queue) { found.insert(queue) }
            }
            cursor = next
        } while cursor != "0"
        return found.subtracting(listed).sorted()
    }

    /// Puts a queue into the registry.
    package func list(_ queue: String) async throws(BrokerError) {
        _ = try await command(.command("SADD", KeySpace.queues, queue))
    }
}
