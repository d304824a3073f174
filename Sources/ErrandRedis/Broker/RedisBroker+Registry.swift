public import Errand
import Logging

/// The registry: the set of the names of all queues, by which they are listed.
extension RedisBroker {
    /// The registry's queues, sorted by name.
    public func queues() async throws(BrokerError) -> [String] {
        let members = try await registry("SMEMBERS").elements ?? []
        return members.compactMap(\.text).filter { QueueName.isValid($0) }.sorted()
    }

    /// As ``queues()``, but none where the registry is of another type: then it names none.
    package func readableQueues() async throws(BrokerError) -> [String] {
        try await registryDamage() == nil ? try await queues() : []
    }

    /// Puts a new queue into the registry. A lost answer does no harm: workers announce their queues as well.
    func announce(_ queue: String) async {
        do { try await enter(queue) } catch {
            logger.debug("queue not announced", metadata: ["job.queue": "\(queue)", "error": "\(error)"])
        }
    }

    func enter(_ queue: String) async throws(BrokerError) { _ = try await registry("SADD", queue) }

    /// Takes a queue out of the registry, and answers whether it was there.
    func strike(_ queue: String) async throws(BrokerError) -> Bool {
        do throws(BrokerError) { return try await registry("SREM", queue).number == 1 } catch {
            guard error.code == .refused else { throw error }
            return false
        }
    }

    /// What the registry is, when it is there and is no set.
    func registryDamage() async throws(BrokerError) -> String? {
        let type = try await command(.command("TYPE", KeySpace.queues)).text
        return type.flatMap { ["none", "set"].contains($0) ? nil : $0 }
    }

    /// Runs a command on the registry. The server's error does not name the key.
    private func registry(_ verb: String, _ members: String...) async throws(BrokerError) -> RESPValue {
        var words = CommandWriter()
        words.begin(2 + members.count)
        for word in [verb, KeySpace.queues] + members { words.add(word) }
        do throws(BrokerError) { return try await command(words) } catch {
            guard error.code == .refused, let type = try await registryDamage() else { throw error }
            let damage = "the key \(KeySpace.queues) is a \(type) and must be a set"
            throw BrokerError(
                .refused,
                "\(address): \(damage). `errand doctor --repair` puts it aside and lists the queues anew"
            )
        }
    }
}
