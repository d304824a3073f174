/// What a push is told.
package enum Receipt: Hashable, Sendable {
    case accepted
    case exists
    case dropped(holder: JobID)
    case replaced(JobID)
    case deferred(holder: JobID)
}

/// A claim as its worker gets it.
package struct GivenClaim: Hashable, Sendable {
    package var id: JobID
    package var token: Token
    package var attempt: Int
    package var crashes: Int
    package var readySince: Time

    package init(id: JobID, token: Token, attempt: Int, crashes: Int, readySince: Time) {
        self.id = id
        self.token = token
        self.attempt = attempt
        self.crashes = crashes
        self.readySince = readySince
    }
}

/// What became of a job that was to be cancelled or deleted.
package enum EndingWord: Int, Hashable, Sendable {
    case cancelled, stopping, deleted, running, ended, dead, notFound
}

/// What became of a dead job that was to run again.
package enum RevivalWord: Hashable, Sendable {
    case retried, hurried, notDead, notFound
    case taken(holder: JobID)
}

/// A run that is to stop.
package struct StopOrder: Hashable, Sendable {
    package var id: JobID
    package var token: Token

    package init(id: JobID, token: Token) {
        self.id = id
        self.token = token
    }
}

/// Why nothing was done.
package enum Refusal: Int, Hashable, Sendable {
    case sessionLost, refused, full
}

/// The answer to a command.
package enum Answer: Hashable, Sendable {
    case done
    case no(Refusal)
    case receipts([Receipt])
    case exchanged(accepted: [Bool], claims: [GivenClaim], hasDue: Bool, isPaused: Bool, isPreanswered: Bool)
    case beaten(claims: Int, stops: [StopOrder])
    case promoted(Int, next: Time?)
    case recovered(Int, more: Bool)
    case reconciled(Int, lost: [JobID])
    case endings([EndingWord])
    case revivals([RevivalWord])
    case cleared(Int)
}
