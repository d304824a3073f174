import Dispatch
import Errand
import ErrandRedis
import Foundation

/// A checker that receives the ends of jobs, reads their results and verifies them.
///
/// Events report which jobs have ended. An event may be lost, so jobs without one are looked up every second.
struct DemoChecker: Sendable {
    let broker: RedisBroker
    let ledger: DemoLedger
    private static let queue = DemoOperations.queue

    // MARK: Events

    /// Listens to events until it is cancelled. `onSubscribed` is called once it receives all further events.
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

    /// Verifies ended jobs until all are pushed and each is verified or given up.
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

    /// Verifies jobs on as many threads as there are processors. They read files, so they must not block the threads of
    /// tasks.
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

    /// Looks up the oldest jobs without an event. If the queue has been empty for a while, all of them have ended or
    /// are lost.
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
