/// Unroutable jobs, in a list for each operation and priority.
extension MemoryQueue {
    /// Claims unroutable jobs for a session that has their operation.
    ///
    /// Quarantined jobs among them wait until this session runs them alone. If another session is the quarantine owner,
    /// which may not have the operation, they stay unroutable.
    mutating func claim(
        _ most: Int,
        unroutableIn line: LineName,
        _ unroutable: inout MemoryUnroutable,
        _ grant: inout MemoryGrant
    ) -> Int {
        var taken = 0
        var unseen = lines[line]?.count ?? 0
        while unseen > 0, taken < most, grant.hasRoom, let id = lines[line]?.first {
            unseen -= 1
            if jobs[id]?.isSuspect != true {
                guard claim(id, &grant) else { break }
                taken += 1
            } else {
                vacate(id)
                enter(unroutable.mayServe ? .suspects : line, id)
                unroutable.metSuspect = unroutable.metSuspect || unroutable.mayServe
            }
        }
        return taken
    }

    /// Returns the lists of unroutable jobs whose operations a session has, by priority.
    func unroutableAndKnown(by session: String) -> [[LineName]] {
        let known = sessions[session]?.operations ?? [:]
        var lots = [[LineName]](repeating: [], count: 10)
        for line in unroutableLists {
            guard case .unroutable(let operation, let priority) = line, known[operation] != nil else { continue }
            lots[min(max(priority, 0), 9)].append(line)
        }
        return lots
    }

    /// The lists of unroutable jobs, the highest priority first, and then in alphabetical order.
    package var unroutableLists: [LineName] {
        let found = lines.keys.compactMap { line -> (priority: Int, operation: String, line: LineName)? in
            guard case .unroutable(let operation, let priority) = line else { return nil }
            return (priority, operation, line)
        }
        return found.sorted { ($1.priority, $0.operation) < ($0.priority, $1.operation) }.map(\.line)
    }
}

/// The unroutable jobs during one call.
struct MemoryUnroutable {
    /// The lists that the call may claim from, by priority.
    var lots: [[LineName]]
    let mayServe: Bool
    /// Whether the call found a quarantined job that the session has to run.
    var metSuspect = false
}
