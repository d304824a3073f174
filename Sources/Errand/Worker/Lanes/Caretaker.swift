import Logging

/// Looks after one queue beside the lane: puts due jobs in line, lets schedules tick, takes back the jobs of dead workers, and gives back
/// what waits too long here. Every worker does it, about once a second and not at the same moment; no leader is needed.
struct Caretaker {
    private let lane: Lane
    private let epoch: SessionEpoch

    init(_ lane: Lane, _ epoch: SessionEpoch) {
        self.lane = lane
        self.epoch = epoch
    }

    func work() async {
        var pause = Duration.milliseconds(Int.random(in: 20...200))
        while await epoch.awaitUpkeep(of: lane.queue, for: pause) {
            lane.giveBackWaiting()
            await recover()
            let next = await promote()
            pause = min(next ?? .seconds(1), .milliseconds(Int.random(in: 700...1100)))
        }
    }

    private func recover() async {
        do throws(BrokerError) {
            // Bounded, so that a mass of dead sessions does not keep due jobs from their line.
            for _ in 0..<50 {
                let recovery = try await epoch.broker.recover(on: lane.queue)
                if recovery.recovered > 0 { lane.signal.raise() }
                if !recovery.hasMore { return }
            }
        } catch {
            note("nothing recovered", error)
        }
    }

    /// Answers in how long the next job is due, or the next schedule ticks.
    private func promote() async -> Duration? {
        do throws(BrokerError) {
            let promotion = try await epoch.broker.promote(on: lane.queue)
            if promotion.promoted > 0 { lane.signal.raise() }
            let ticked = promotion.hasDueSchedules ? await tick() : nil
            return [promotion.nextDue, ticked].compactMap(\.self).min().map { .milliseconds(max($0, 1)) }
        } catch {
            note("nothing promoted", error)
            return nil
        }
    }

    /// Pushes what is due of the queue's schedules; answers in how many milliseconds the next of these ticks comes.
    private func tick() async -> Int? {
        do throws(BrokerError) {
            let round = try await Ticker(epoch.broker, queue: lane.queue, logger: epoch.logger).work()
            if round.pushed > 0 { lane.signal.raise() }
            return round.nextDue
        } catch {
            note("no schedule ticked", error)
            return nil
        }
    }

    /// What is missing once is tried again in a second; what is not permitted will not be then either.
    private func note(_ what: Logger.Message, _ error: BrokerError) {
        epoch.logger.debug(what, metadata: ["job.queue": "\(lane.queue)", "error": "\(error)"])
        if error.code == .notPermitted { epoch.end(because: error) }
    }
}
