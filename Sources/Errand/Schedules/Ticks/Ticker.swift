package import Logging

/// Pushes the jobs of a queue's due schedules. Every worker does so, by the broker's time only; the broker accepts the
/// first proposal.
package struct Ticker: Sendable {
    private let broker: any TickingBroker
    private let queue: String
    private let logger: Logger

    /// The result of a round.
    package struct Round: Sendable {
        /// The number of pushed jobs.
        package var pushed = 0
        /// The milliseconds until the next tick of these schedules; `nil` if none ticked.
        package var nextDue: Int?
        /// The number of schedules that could not tick: their definition or next tick cannot be read, or the queue is
        /// full.
        fileprivate var stuck = 0
    }

    /// Makes a ticker.
    package init(_ broker: any TickingBroker, queue: String, logger: Logger) {
        self.broker = broker
        self.queue = queue
        self.logger = logger
    }

    /// Pushes the jobs of due schedules, for a limited number of pages.
    package func work() async throws(BrokerError) -> Round {
        var round = Round()
        for _ in 0..<50 {
            let due = try await broker.dueSchedules(on: queue, skipping: round.stuck)
            if due.schedules.isEmpty { break }
            for record in due.schedules { try await tick(record, now: due.now, &round) }
        }
        return round
    }

    private func tick(_ record: ScheduleRecord, now: Int64, _ round: inout Round) async throws(BrokerError) {
        guard var proposal = proposal(record, now: now) else {
            round.stuck += 1
            return
        }
        while true {
            do throws(BrokerError) {
                switch try await broker.tick(proposal, on: queue) {
                case .pushed(let receipts): round.count(receipts.count, next: proposal.next, now: now)
                case .behind: break
                case .early: round.stuck += 1
                }
                return
            } catch {
                // A schedule that the broker rejects must not keep the others from ticking.
                guard [.full, .refused].contains(error.code) else { throw error }
                guard error.code == .full, proposal.ticks.count > 1 else {
                    round.stuck += 1
                    return log(record, "\(error)")
                }
                // There may be room for some of the jobs.
                proposal = proposal.limited(to: proposal.ticks.count / 2)
            }
        }
    }

    private func proposal(_ record: ScheduleRecord, now: Int64) -> TickProposal? {
        guard let schedule = record.schedule else {
            log(record, record.problem?.description ?? "it has no definition")
            return nil
        }
        guard let tick = record.nextTick, ScheduleTiming.times.contains(tick) else {
            log(record, "its next tick is not a valid time; pause it and resume it")
            return nil
        }
        do { return try TickProposal(record, schedule, now: now) } catch {
            log(record, "\(error)")
            return nil
        }
    }

    private func log(_ record: ScheduleRecord, _ reason: String) {
        logger.debug(
            "schedule cannot tick now",
            metadata: ["job.queue": "\(queue)", "schedule": "\(record.name)", "error": "\(reason)"]
        )
    }
}

extension Ticker.Round {
    fileprivate mutating func count(_ jobs: Int, next: Int64?, now: Int64) {
        pushed += jobs
        guard let next else { return }
        let wait = Int(clamping: max(next - now, 0))
        nextDue = min(nextDue ?? wait, wait)
    }
}
