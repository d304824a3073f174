/// Jobs that wait for a session that knows their operation, each operation and priority in a line of its own.
extension MemoryQueue {
    /// Jobs that waited for a session that knows their operation.
    ///
    /// A suspect among them waits to be served alone by this session, which knows it; or where it was, while another session
    /// serves suspects, which may not know it.
    mutating func claim(
        _ most: Int,
        parkedIn line: LineName,
        _ parking: inout MemoryUnroutable,
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
                enter(parking.mayServe ? .suspects : line, id)
                parking.metSuspect = parking.metSuspect || parking.mayServe
            }
        }
        return taken
    }

    /// Where jobs are parked whose operations a session knows, by level.
    func parkedAndKnown(by session: String) -> [[LineName]] {
        let known = sessions[session]?.operations ?? [:]
        var lots = [[LineName]](repeating: [], count: 10)
        for line in parkedLines {
            guard case .parked(let operation, let priority) = line, known[operation] != nil else { continue }
            lots[min(max(priority, 0), 9)].append(line)
        }
        return lots
    }

    /// The lines of parked jobs, the highest priority first, and then in the order of the alphabet.
    var parkedLines: [LineName] {
        let parked = lines.keys.compactMap { line -> (priority: Int, operation: String, line: LineName)? in
            guard case .parked(let operation, let priority) = line else { return nil }
            return (priority, operation, line)
        }
        return parked.sorted { ($1.priority, $0.operation) < ($0.priority, $1.operation) }.map(\.line)
    }
}

/// What one call knows of parked jobs.
struct MemoryUnroutable {
    /// The lines that it may claim from, by level.
    var lots: [[LineName]]
    let mayServe: Bool
    /// Whether it met a suspect that it is to serve.
    var metSuspect = false
}
