import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import Errand

/// A session that is lost right after its registration, as if calls and heartbeats reached two different servers.
@Suite("Repeatedly lost sessions", .timeLimit(.minutes(6)))
struct LosingSessionsTests {
    @Test("a worker pauses before it registers again, and stops at once when it is told to")
    func pauses() async throws {
        // A machine may stall once.
        for isLast in [false, false, true] {
            let time = try await timeToStop()
            if time < .milliseconds(1500) { return }
            #expect(!isLast, "it took \(time)")
        }
    }

    /// Returns how long a worker takes to stop that would wait for two seconds before it registers again.
    private func timeToStop() async throws -> Duration {
        let fixture = WorkerFixture()
        fixture.broker.fail(with: BrokerError(.sessionLost, "the session is not registered"))
        let registrations = Mutex<[ContinuousClock.Instant]>([])
        let worker = fixture.worker([]) { event in
            if case .registered = event { registrations.withLock { $0.append(.now) } }
        }
        let group = ServiceGroup(services: [worker], logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() })
        let work = Task { try await group.run() }
        try await eventually("it has registered seven times") { registrations.withLock(\.count) >= 7 }
        let times = registrations.withLock { $0 }
        // 50, 100, 200, … ms apart.
        #expect(times[6] - times[0] >= .milliseconds(3150))
        let stopped = ContinuousClock.now
        await group.triggerGracefulShutdown()
        try await work.value
        let time = ContinuousClock.now - stopped
        #expect(registrations.withLock(\.count) == times.count)
        return time
    }

    @Test("a worker registers again only after the runs of its lost session have stopped")
    func waitsForWhatIsLeft() async throws {
        let broker = TroubledBroker()
        let (steps, takes) = AsyncStream.makeStream(of: String.self)
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(queues: [.init("left")], lease: .seconds(3600), stopGrace: .seconds(60)),
            operations: [
                RegisteredOperation("slow-to-stop") { context in
                    takes.yield("begun")
                    await withCheckedContinuation { stopped in
                        context.onExpiration {
                            // Much longer than the pause before the next registration.
                            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(500)) {
                                stopped.resume()
                            }
                        }
                    }
                    takes.yield("stopped")
                }
            ],
            logger: Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() },
            onEvent: { if case .registered = $0 { takes.yield("registered") } }
        )
        _ = try await Producer(broker: broker.memory).push(OperationDescription("slow-to-stop", queue: "left"))
        let work = Task { try await worker.run() }
        var taken: [String] = []
        for await step in steps {
            taken.append(step)
            if step == "begun" {
                broker.tell("left", .failure(BrokerError(.sessionLost, "the session is not registered")))
            }
            if taken.count == 4 { break }
        }
        #expect(taken == ["registered", "begun", "stopped", "registered"])
        work.cancel()
        try await work.value
    }

    /// Loses the session when it claims its first job, before the runs of the other ones have been made.
    private final class LossAtFirstClaim: JobMiddleware {
        let broker: TroubledBroker
        private let claimed = Atomic(0)

        var claims: Int { claimed.load(ordering: .relaxed) }

        init(_ broker: TroubledBroker) { self.broker = broker }

        func claimedJob(_ job: JobContext) {
            guard claimed.add(1, ordering: .relaxed).newValue == 1 else { return }
            broker.tell(job.queue, .failure(BrokerError(.sessionLost, "the session is not registered")))
        }
    }

    @Test("jobs of a session that is lost while their runs are made do not begin")
    func beginsNothingOfALostSession() async throws {
        let broker = TroubledBroker()
        let loss = LossAtFirstClaim(broker)
        let (steps, takes) = AsyncStream.makeStream(of: String.self)
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(queues: [.init("left")], concurrency: 2, lease: .seconds(3600)),
            operations: [RegisteredOperation("noop") { _ in _ = takes.yield("begun") }],
            middleware: [loss],
            logger: Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() },
            onEvent: { if case .registered = $0 { takes.yield("registered") } }
        )
        let jobs = try (0..<2).map { _ in try OperationDescription("noop", queue: "left") }
        _ = try await Producer(broker: broker.memory).push(contentsOf: jobs)
        let work = Task { try await worker.run() }
        var taken: [String] = []
        for await step in steps {
            taken.append(step)
            if taken.count == 4 { break }
        }
        #expect(taken == ["registered", "registered", "begun", "begun"])
        #expect(loss.claims == 4, "both jobs in both sessions")
        work.cancel()
        try await work.value
    }

    @Test("pauses double up to two seconds, and start again after a session that lasted for its lease")
    func pausesGrow() {
        var pause = RegistrationPause()
        let lease = Duration.seconds(3600)
        var pauses: [Duration] = []
        for _ in 0..<8 {
            pause.sessionBegins()
            pauses.append(pause.next(lease: lease))
        }
        #expect(pauses == [50, 100, 200, 400, 800, 1600, 2000, 2000].map { Duration.milliseconds($0) })
        let afterALongLife = pause.next(lease: .zero)
        let afterwards = pause.next(lease: lease)
        #expect(afterALongLife == .zero)
        #expect(afterwards == .milliseconds(50))
    }
}
