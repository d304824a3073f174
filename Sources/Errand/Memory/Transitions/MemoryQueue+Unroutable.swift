/// Unroutable jobs, in a list for each operation and priority.
extension MemoryQueue {
    /// Claims unroutable jobs for a session that has their operation.
    ///
    /// Quarantined jobs among them wait until this session runs them alone. If another session is the quarantine owner,
    /// which may not have the operation, they stay unroutable. Jobs with a group join those of their group.
    mutating func claim(
        _ most: Int,
        unroutableIn list: ReadyListName,
        _ unroutable: inout MemoryUnroutable,
        _ grant: inout MemoryGrant
    ) -> Int {
        var taken = 0
        var unseen = readyLists[list]?.count ?? 0
        while unseen > 0, taken < most, grant.hasRoom, let id = readyLists[list]?.first {
            unseen -= 1
            if let own = readyList(of: id), case .group = own {
                removeFromPlace(id)
                moveToGroup(id, own)
            } else if jobs[id]?.isQuarantined != true {
                if claim(id, &grant) { taken += 1 }
            } else {
                removeFromPlace(id)
                appendJob(unroutable.mayServe ? .quarantined : list, id)
                unroutable.foundQuarantined = unroutable.foundQuarantined || unroutable.mayServe
            }
        }
        return taken
    }

    /// Returns the lists of unroutable jobs whose operations a session has, by priority.
    func unroutableAndKnown(by session: String) -> [[ReadyListName]] {
        let known = sessions[session]?.operations ?? [:]
        var lists = [[ReadyListName]](repeating: [], count: 10)
        for list in unroutableLists {
            guard case .unroutable(let operation, let priority) = list, known[operation] != nil else { continue }
            lists[min(max(priority, 0), 9)].append(list)
        }
        return lists
    }

    /// The lists of unroutable jobs, the highest priority first, and then in alphabetical order.
    package var unroutableLists: [ReadyListName] {
        let found = readyLists.keys.compactMap { list -> (priority: Int, operation: String, list: ReadyListName)? in
            guard case .unroutable(let operation, let priority) = list else { return nil }
            return (priority, operation, list)
        }
        return found.sorted { ($1.priority, $0.operation) < ($0.priority, $1.operation) }.map(\.list)
    }
}

/// The unroutable jobs during one call.
struct MemoryUnroutable {
    /// The lists that the call may claim from, by priority.
    var lists: [[ReadyListName]]
    let mayServe: Bool
    /// Whether the call found a quarantined job that the session has to run.
    var foundQuarantined = false
}
