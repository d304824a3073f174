package import Errand

extension RedisBroker {
    /// Looks at the registry: whether it is a set, and which queues have keys but are not in it, as when it was lost. With
    /// `repair` what is no set is put aside, and the queues are put into it.
    package func auditRegistry(repair: Bool) async throws(BrokerError) -> [Finding] {
        var findings: [Finding] = []
        if try await registryDamage() != nil {
            if repair { try await putRegistryAside() }
            findings.append(Self.finding("registry_wrong_type", queue: "", repaired: repair))
        }
        let missing = try await unregistered()
        for queue in missing where repair { try await enter(queue) }
        return findings + missing.sorted().map { Self.finding("queue_unregistered", queue: $0, repaired: repair) }
    }

    private static func finding(_ kind: String, queue: String, repaired: Bool) -> Finding {
        let message = FindingExplanations.text(of: kind)
        return Finding(kind: kind, queue: queue, subject: KeySpace.queues, message: message, repaired: repaired)
    }

    /// What an earlier repair has put aside stays for a person to look at.
    private func putRegistryAside() async throws(BrokerError) {
        var aside = KeySpace.spoiledQueues
        if try await command(.command("EXISTS", aside)).number == 1 {
            let time = try await now()
            aside += ":\(time)"
        }
        _ = try await command(.command("RENAME", KeySpace.queues, aside))
    }

    /// Queues that have keys and are not in the registry; who makes one puts it there a moment later.
    private func unregistered() async throws(BrokerError) -> Set<String> {
        var missing = Set(try await keys(like: "errand:{*}:*").compactMap { KeySpace.queue(in: $0) })
        missing = missing.filter { QueueName.isValid($0) }
        for look in 0..<3 where !missing.isEmpty {
            // The first of these looks comes after the walk, during which many may have been made.
            if look > 0 { try? await Task.sleep(for: .milliseconds(100)) }
            missing.subtract(try await readableQueues())
        }
        return missing
    }
}
