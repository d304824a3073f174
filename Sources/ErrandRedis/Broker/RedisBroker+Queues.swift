public import Errand

extension RedisBroker {
    /// Creates an empty queue, and returns whether it is new.
    @discardableResult
    public func createQueue(_ queue: String) async throws(BrokerError) -> Bool {
        let isNew = try await number(of: "create", queue, .queue) == 1
        // An existing one as well: the registry may have lost it.
        await announce(queue)
        return isNew
    }

    /// Returns whether the queue has any keys; the registry of queues may be out of date.
    public func hasQueue(_ queue: String) async throws(BrokerError) -> Bool {
        try await number(of: "look", queue, .plainQueue) == 1
    }

    /// Deletes all keys of a queue in one script, and then the remains of earlier repairs and lost sessions. Workflows of
    /// other queues are told that their jobs in it are deleted.
    @discardableResult
    public func deleteQueue(_ queue: String, force: Bool) async throws(BrokerError) -> QueueDeletion {
        let messages = try await messagesBeforeDeletion(of: queue, force: force)
        var call = ScriptCall(.queue, on: queue)
        call.add(force ? "force" : "delete")
        let answer = try await run(call).elements ?? []
        let counts = answer.dropFirst().compactMap(\.number).map { Int(clamping: $0) }
        guard let word = answer.first?.text, counts.count == 3 else { throw unexpected("a deletion") }
        if word == "used" { return .inUse(jobs: counts[0], workers: counts[1], schedules: counts[2]) }
        if word == "undelivered" { return try await deleteQueue(queue, force: force) }
        await tell(messages, ofDeletion: queue)
        let wasRegistered = try await strike(queue)
        try await sweep(queue)
        // A push or a worker may have created and registered the queue again before it was removed from the registry.
        if try await hasQueue(queue) { await announce(queue) }
        return word == "deleted" || wasRegistered ? .deleted(jobs: counts[0]) : .notFound
    }

    private func sweep(_ queue: String) async throws(BrokerError) {
        let keys = try await keys(like: KeySpace.key(of: queue) + ":*", for: .queue(queue)).sorted()
        for start in stride(from: 0, to: keys.count, by: 1000) {
            var call = ScriptCall(.queue, on: queue)
            call.add("sweep")
            for key in keys[start..<min(start + 1000, keys.count)] { call.add(key) }
            _ = try await run(call)
        }
    }

    private func number(of word: String, _ queue: String, _ script: Script) async throws(BrokerError) -> Int64 {
        var call = ScriptCall(script, on: queue)
        call.add(word)
        guard let number = try await run(call).number else { throw unexpected("a queue") }
        return number
    }
}
