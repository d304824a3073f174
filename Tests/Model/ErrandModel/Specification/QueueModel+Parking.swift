/// Jobs that wait for a session that knows their operation.
extension QueueModel {
    /// Their lines, the highest priority first.
    var parkedLines: [Line] {
        (lines.keys.filter { $0.isParked }).sorted { ($1.level, $0.operation) < ($0.level, $1.operation) }
    }

    func knows(_ session: SessionID, _ line: Line) -> Bool {
        guard case .parked(let operation, _) = line else { return false }
        return sessions[session]?.registration.operations[operation] != nil
    }

    /// Takes of a parked line. A suspect is not taken beside others: it waits to be served by this session, or, while another one
    /// serves suspects, behind the others of its line.
    mutating func take(
        _ most: Int,
        parkedIn line: Line,
        _ call: Call,
        _ token: Token,
        _ claims: inout [GivenClaim]
    ) {
        let full = claims.count + most
        for id in lines[line] ?? [] where claims.count < full {
            guard jobs[id]?.isSuspect == true else {
                take(id, call, token, &claims)
                continue
            }
            let next = solo == nil ? Line.suspects : line
            leavePlace(id)
            lines[next, default: []].append(id)
            jobs[id]?.place = .line(next)
        }
    }
}

extension Line {
    var isParked: Bool { if case .parked = self { true } else { false } }
    /// Of a parked line.
    var operation: Operation { if case .parked(let operation, _) = self { operation } else { -1 } }
    /// The priority of its jobs; of the suspects' line there is none.
    var level: Int {
        switch self {
        case .ready(let priority), .parked(_, let priority): priority
        case .suspects: -1
        }
    }
}
