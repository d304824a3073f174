public import Errand
import Logging
import Synchronization

/// The registry: the set of the names of all queues.
extension RedisBroker {
    /// Returns the registry's queues, sorted by name.
    public func queues() async throws(BrokerError) -> [String] {
        let members = try await registry("SMEMBERS").elements ?? []
        return members.compactMap(\.text).filter { QueueName.isValid($0) }.sorted()
    }

    /// Returns the same as ``queues()``, but no queue if the registry has another type.
    package func readableQueues() async throws(BrokerError) -> [String] {
        try await registryDamage() == nil ? try await queues() : []
    }

    /// Adds a new queue to the registry. If that fails, the registration of a worker does it.
    func announce(_ queue: String) async {
        do { try await enter(queue) } catch {
            logger.debug("queue not announced", metadata: ["job.queue": "\(queue)", "error": "\(error)"])
        }
    }

    /// Adds a queue to the registry. If only the registry's server does not answer, that happens later: other servers of
    /// the cluster have the queue's jobs.
    func enter(_ queue: String) async throws(BrokerError) {
        do throws(BrokerError) { try await enterAtOnce(queue) } catch {
            guard !error.isOfAnsweringServer else { throw error }
            enterLater(queue)
        }
    }

    /// Adds a queue to the registry, or throws within a second.
    func enterAtOnce(_ queue: String) async throws(BrokerError) {
        _ = try await registry("SADD", queue, patience: min(options.patience, .seconds(1)))
    }

    /// Tries again until the registry has all queues that it lacks.
    private func enterLater(_ queue: String) {
        let isFirst = unregistered.withLock { queues in
            defer { queues.insert(queue) }
            return queues.isEmpty
        }
        guard isFirst else { return }
        Task { [weak self] in
            while let isEntered = await self?.enterNext() { if !isEntered { try? await Task.sleep(for: .seconds(1)) } }
        }
    }

    /// Tries to enter one queue. Returns whether it was entered, or cannot be; `nil` if none is left.
    private func enterNext() async -> Bool? {
        guard let queue = unregistered.withLock({ $0.first }), !servers.isClosed else { return nil }
        do throws(BrokerError) { try await enterAtOnce(queue) } catch {
            if !error.isOfAnsweringServer { return false }
            logger.debug("queue not announced", metadata: ["job.queue": "\(queue)", "error": "\(error)"])
        }
        unregistered.withLock { _ = $0.remove(queue) }
        return true
    }

    /// Removes a queue from the registry, and returns whether it was there.
    func strike(_ queue: String) async throws(BrokerError) -> Bool {
        do throws(BrokerError) { return try await registry("SREM", queue).number == 1 } catch {
            guard error.code == .refused else { throw error }
            return false
        }
    }

    /// Returns the type of the registry if it exists and is not a set.
    func registryDamage() async throws(BrokerError) -> String? {
        let type = try await command(.command("TYPE", KeySpace.queues), for: .registry).text
        return type.flatMap { ["none", "set"].contains($0) ? nil : $0 }
    }

    /// Runs a command on the registry. The server's error does not contain the key.
    private func registry(
        _ verb: String,
        _ members: String...,
        patience: Duration? = nil
    ) async throws(BrokerError) -> RESPValue {
        var words = CommandWriter()
        words.begin(2 + members.count)
        for word in [verb, KeySpace.queues] + members { words.add(word) }
        do throws(BrokerError) { return try await command(words, for: .registry, patience: patience) } catch {
            guard error.code == .refused, let type = try await registryDamage() else { throw error }
            let damage = "the key \(KeySpace.queues) is a \(type) but must be a set"
            throw BrokerError(
                .refused,
                "\(address): \(damage). `errand doctor --repair` moves it aside and rebuilds the list of queues"
            )
        }
    }
}

extension BrokerError {
    /// Whether it is the answer of a server, and not the lack of one.
    fileprivate var isOfAnsweringServer: Bool { ![.notReachable, .outcomeUnknown].contains(code) }
}
