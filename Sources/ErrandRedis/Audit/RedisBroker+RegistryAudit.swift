package import Errand

extension RedisBroker {
    /// Checks whether the registry is a set, and finds queues that have keys but are not in it, for example after its
    /// loss. With `repair`, moves a registry of another type aside, and adds the queues.
    package func auditRegistry(repair: Bool) async throws(BrokerError) -> [Finding] {
        var findings: [Finding] = []
        if try await registryDamage() != nil {
            if repair { try await putRegistryAside() }
            findings.append(Self.finding("registry_wrong_type", queue: "", repaired: repair))
        }
        let missing = try await unregistered()
        for queue in missing where repair { try await enterAtOnce(queue) }
        return findings + missing.sorted().map { Self.finding("queue_unregistered", queue: $0, repaired: repair) }
    }

    private static func finding(_ kind: String, queue: String, repaired: Bool) -> Finding {
        let message = FindingExplanations.text(of: kind)
        return Finding(kind: kind, queue: queue, subject: KeySpace.queues, message: message, repaired: repaired)
    }

    /// The key that an earlier repair has moved aside stays for a person to inspect.
    private func putRegistryAside() async throws(BrokerError) {
        var aside = KeySpace.corruptQueues
        if try await command(.command("EXISTS", aside), for: .registry).number == 1 {
            let time = try await now(at: .registry)
            aside += ":\(time)"
        }
        _ = try await command(.command("RENAME", KeySpace.queues, aside), for: .registry)
    }

    /// Returns queues that have keys and are not in the registry. A new queue is registered a moment after its first
    /// key.
    private func unregistered() async throws(BrokerError) -> Set<String> {
        var missing = Self.queues(in: try await keys(like: KeySpace.pattern))
        for look in 0..<3 where !missing.isEmpty {
            // The first check follows the walk, during which many queues may have been created.
            if look > 0 { try? await Task.sleep(for: .milliseconds(100)) }
            missing.subtract(try await readableQueues())
        }
        return missing
    }
}
