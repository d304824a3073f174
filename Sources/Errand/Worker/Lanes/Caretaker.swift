import Logging

/// Looks after one queue beside the lane: puts due jobs in line, takes back the jobs of dead workers, and gives back
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
        do {
            // Bounded, so that a mass of dead sessions does not keep due jobs from their line.
            for _ in 0..<50 {
                let recovery = try await epoch.broker.recover(on: lane.queue)
                if recovery.recovered > 0 { lane.signal.raise() }
                if !recovery.hasMore { return }
            }
        } catch {
            epoch.logger.debug("nothing recovered", metadata: ["job.queue": "\(lane.queue)", "error": "\(error)"])
        }
    }

    /// Answers in how long the next job is due.
    private func promote() async -> Duration? {
        do {
            let promotion = try await epoch.broker.promote(on: lane.queue)
            if promotion.promoted > 0 { lane.signal.raise() }
            return promotion.nextDue.map { .milliseconds(max($0, 1)) }
        } catch {
            epoch.logger.debug("nothing promoted", metadata: ["job.queue": "\(lane.queue)", "error": "\(error)"])
            return nil
        }
    }
}
