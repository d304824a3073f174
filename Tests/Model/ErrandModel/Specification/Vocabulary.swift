/// Jobs, names, sessions and operations are numbers here; a universe gives them texts where real brokers need some.
package typealias JobID = Int
package typealias Name = Int
package typealias SessionID = Int
package typealias Operation = Int
/// Milliseconds since 1970 by the broker's clock.
package typealias Time = Int64
/// The fence of a claim.
package typealias Token = Int64

/// What a pushed job wants of a job that holds its name.
package enum Policy: Int, Hashable, Sendable, CaseIterable {
    case ignore, drop, replace
}

/// Where jobs wait in line.
package enum Line: Hashable, Sendable {
    case ready(priority: Int)
    case suspects
    /// Behind others of an operation that no session knew, and of one priority.
    case parked(Operation, priority: Int)
}

/// Where a job is: in exactly one place.
package enum Place: Hashable, Sendable {
    case line(Line)
    case scheduled(Time)
    case retrying(Time)
    case claimed(SessionID)
    case behind(JobID)
    case dead(Time)
}

/// Why a running job is to stop.
package enum Stop: Int, Hashable, Sendable {
    case cancel, replace
}

/// How a job ended for good.
package enum Ending: Int, Hashable, Sendable {
    case finished, cancelled, replaced, deleted
}

/// How a worker says that a run ended.
package enum Verb: Int, Hashable, Sendable, CaseIterable {
    case finished, failed, timedOut, cancelled, released, parked, snoozed, unreadable
}

/// What is counted.
package enum Total: Int, Hashable, Sendable, CaseIterable {
    case pushed, dropped, replaced, finished, failed, timedOut, cancelled, retried, recovered, released, dead
    /// Never counted here: no history of the model has so many.
    case deadTrimmed
}
