import Dispatch
import Errand
import ErrandRedis
import Foundation

/// Hears of endings, looks up results and judges them.
///
/// Events say which jobs have ended. As they are hints only, jobs that nothing was heard of are looked up every second.
struct DemoChecker: Sendable {
    let broker: RedisBroker
    let ledger: DemoLedger
    private static let queue = DemoOperations.queue

    // MARK: Hearing

    /// Listens until it is cancelled; `onSubscribed` is called when it hears everything that happens from now on.
    func listen(onSubscribed: @escaping @Sendable () -> Void) async throws {
        for try await message in broker.events(of: [Self.queue], onSubscribed: onSubscribed) {
            for line in message.lines { hear(line) }
        }
    }

    private struct Event: Decodable {
        let event: String
        let id: String
    }

    private func hear(_ line: [UInt8]) {
        guard let event = try? JSONDecoder().decode(Event.self, from: Data(line)) else { return }
        if ["finished", "dead", "cancelled", "replaced"].contains(event.event) { ledger.heardEnd(of: event.id) }
    }

    // MARK: Verifying

    /// Verifies what has ended until everything was pushed and is verified or given up.
    func verify() async throws {
        var nextLook = ContinuousClock.now + .seconds(1)
        var quietLooks = 0
        while true {
            try await verifyEnded()
            let isLast = ledger.isPushed
            if isLast, ledger.unverified == 0 { return }
            if ContinuousClock.now >= nextLook {
                let isDrained = try await isDrained()
                try await lookUpSilent(givingUp: isLast && isDrained && quietLooks > 1)
                quietLooks = isLast && isDrained ? quietLooks + 1 : 0
                nextLook = ContinuousClock.now + .seconds(1)
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func verifyEnded() async throws {
        while true {
            let jobs = ledger.takeEnded(atMost: 200)
            if jobs.isEmpty { return }
            let records = try await broker.inspect(jobs.map(\.id), on: Self.queue)
            await Self.judge(Array(zip(jobs, records))) { ledger.verified($0) }
            try Task.checkCancellation()
        }
    }

    /// Judges jobs on as many threads as there are processors; they read files, so they are none of the tasks' threads.
    private static func judge(
        _ jobs: [(job: DemoLedger.Ended, record: JobRecord?)],
        _ onVerdict: @escaping @Sendable (DemoVerdict) -> Void
    ) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                DispatchQueue.concurrentPerform(iterations: jobs.count) { index in
                    onVerdict(DemoVerdict(of: jobs[index].job, jobs[index].record))
                }
                continuation.resume()
            }
        }
    }

    /// Looks up the oldest jobs that nothing was heard of. When the queue has been drained for a while, all of them
    /// have ended or are lost.
    private func lookUpSilent(givingUp: Bool) async throws {
        let ids = ledger.silent(atMost: givingUp ? .max : 500)
        for (id, record) in zip(ids, try await broker.inspect(ids, on: Self.queue)) {
            if givingUp || record?.state.hasEnded ?? true { ledger.heardEnd(of: id) }
        }
    }

    private func isDrained() async throws -> Bool {
        let status = try await broker.status(of: Self.queue).queue
        return status.ready + status.running + status.scheduled + status.retrying + status.deferred == 0
    }
}
