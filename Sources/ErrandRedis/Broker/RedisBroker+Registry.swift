public import Errand
import Logging

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

    /// Adds a new queue to the registry. A lost reply does no harm: workers register their queues as well.
    func announce(_ queue: String) async {
        do { try await enter(queue) } catch {
            logger.debug("queue not announced", metadata: ["job.queue": "\(queue)", "error": "\(error)"])
        }
    }

    func enter(_ queue: String) async throws(BrokerError) { _ = try await registry("SADD", queue) }

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
    private func registry(_ verb: String, _ members: String...) async throws(BrokerError) -> RESPValue {
        var words = CommandWriter()
        words.begin(2 + members.count)
        for word in [verb, KeySpace.queues] + members { words.add(word) }
        do throws(BrokerError) { return try await command(words, for: .registry) } catch {
            guard error.code == .refused, let type = try await registryDamage() else { throw error }
            let damage = "the key \(KeySpace.queues) is a \(type) and must be a set"
            throw BrokerError(
                .refused,
                "\(address): \(damage). `errand doctor --repair` puts it aside and lists the queues anew"
            )
        }
    }
}
