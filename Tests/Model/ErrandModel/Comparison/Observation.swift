import Errand

/// What can be seen of one transition of a real broker.
package struct Observation {
    package var answer: Answer
    package var words: [Int64]
    /// The lines of the published events.
    package var events: [UInt8]
    /// Sessions that were told that there is work, and that something is to stop.
    package var workHints: [SessionID]
    package var stopHints: [SessionID]
    /// The job that a session was given before it asked for it.
    package var handed: DirectDispatch?
    /// Sessions that wait for a hint.
    package var waiting: Set<SessionID>
}

/// Compares a broker with the model after each step.
struct Judge {
    /// What is wrong with a step, or `nil`.
    func verdict(
        _ expected: Answer,
        _ model: QueueModel,
        words: [Int64],
        _ seen: Observation,
        _ universe: Universe
    ) -> String? {
        if seen.answer != expected { return "answered \(seen.answer)\n   model \(expected)" }
        let lines = universe.lines(of: model.effects.events)
        if seen.events != lines {
            return
                "published\n\(String(decoding: seen.events, as: UTF8.self))\n model\n\(String(decoding: lines, as: UTF8.self))"
        }
        if seen.words != words { return "state\n\(seen.words)\n model\n\(words)\n \(model)" }
        if seen.waiting != Set(model.waiting) {
            return "waiting sessions are \(seen.waiting.sorted()), not \(model.waiting)"
        }
        return wakeUps(model.effects, seen)
    }

    private func wakeUps(_ effects: Effects, _ seen: Observation) -> String? {
        if seen.workHints != effects.woken { return "woke \(seen.workHints), not \(effects.woken)" }
        if seen.handed != effects.handed { return "handed over \(seen.handed as Any), not \(effects.handed as Any)" }
        // In one call the hints of several stops may come in any order.
        if seen.stopHints.sorted() != effects.stopHints.sorted() {
            return "told to stop \(seen.stopHints), not \(effects.stopHints)"
        }
        return nil
    }
}

extension GivenClaim {
    init(_ claim: Claim) {
        self.init(
            id: Universe.number(claim.id),
            token: Token(claim.token),
            attempt: claim.attempt,
            crashes: claim.crashes,
            readySince: claim.body.prefix(13).reduce(0) { $0 &* 10 &+ Time($1 &- 48) }
        )
    }
}

extension Answer {
    init(_ error: BrokerError) {
        switch error.code {
        case .sessionLost: self = .no(.sessionLost)
        case .full: self = .no(.full)
        default: self = .no(.refused)
        }
    }

    init(_ receipts: [Errand.Receipt]) {
        self = .receipts(
            receipts.map { receipt in
                let holder = receipt.holder.map(Universe.number) ?? -1
                switch receipt.outcome {
                case .accepted: return .accepted
                case .exists, .unknown: return .exists
                case .dropped: return .dropped(holder: holder)
                case .replaced: return .replaced(holder)
                case .deferred: return .deferred(holder: holder)
                }
            }
        )
    }

    init(_ answer: ExchangeReply) {
        self = .exchanged(
            accepted: answer.accepted,
            claims: answer.claims.map { GivenClaim($0) },
            hasDue: answer.hasDueJobs,
            isPaused: answer.isPaused,
            isPreanswered: answer.isPreanswered
        )
    }

    /// The order of stops is the broker's choice.
    init(_ answer: Reconciliation) {
        self = .reconciled(answer.released, lost: answer.lost.map(Universe.number))
    }

    init(_ beat: Beat) {
        let stops = beat.stops.map { StopOrder(id: Universe.number($0.id), token: Token($0.token)) }
        self = .beaten(claims: beat.claims, stops: stops.sorted { $0.id < $1.id })
    }

    init(_ verdicts: [EndingOutcome]) {
        let words: [EndingOutcome: EndingWord] = [
            .cancelled: .cancelled, .stopping: .stopping, .deleted: .deleted, .running: .running, .ended: .ended,
            .dead: .dead, .notFound: .notFound,
        ]
        self = .endings(verdicts.compactMap { words[$0] })
    }

    init(_ verdicts: [RetryOutcome]) {
        self = .revivals(
            verdicts.map { verdict in
                switch verdict {
                case .retried: .retried
                case .notDead: .notDead
                case .hurried: .hurried
                case .notFound: .notFound
                case .nameTaken(let holder): .taken(holder: Universe.number(holder))
                }
            }
        )
    }
}
