import Backgroundable
import Foundation
import Logging
import Synchronization
import Testing

@testable import Errand

/// Whatever happens between the two jobs of a request, its task runs, once for each success.
@Suite("Task schedulers and failing calls", .timeLimit(.minutes(6)))
struct BrokerTaskSchedulerFaultTests {
    /// Claims one job as a worker that dies afterwards.
    private func claimAndDie(_ scene: BrokerScene) async throws -> Claim {
        let session = Session(
            id: "session-\(UInt32.random(in: .min ... .max))",
            host: "gone",
            pid: 1,
            concurrency: 1,
            queues: [BrokerScene.queue],
            lease: .milliseconds(500),
            operations: Dictionary(
                scene.scheduler.operations.map { ($0.name, $0.defaults) },
                uniquingKeysWith: { first, _ in first }
            )
        )
        try await scene.broker.register(session, on: BrokerScene.queue)
        let exchange = Exchange(
            session: session,
            call: 1,
            reports: [],
            wanted: 1,
            freeSlots: 1,
            begun: 0,
            longestWait: .seconds(2),
            stopGrace: .seconds(2)
        )
        return try #require(try await scene.broker.exchange(exchange, on: BrokerScene.queue).claims.first)
    }

    /// The run that a launch with this claim pushes.
    private func run(of claim: Claim) throws -> JobEnvelope {
        let requested = RequestedTask(BrokerScene.identifier, .refresh)
        return try requested.run(ofLaunch: claim.id, in: BrokerScene.queue, allowance: .seconds(30)).makeEnvelope()
    }

    private func makeScene(_ broker: any Broker = MemoryBroker()) -> BrokerScene {
        let scene = BrokerScene(broker)
        scene.register { task in
            scene.log.note("ran")
            task.setTaskCompleted(success: true)
        }
        return scene
    }

    @Test("a worker that dies before it has pushed a run loses nothing")
    func diesBeforeTheRun() async throws {
        let scene = makeScene()
        try await scene.submit()
        _ = try await claimAndDie(scene)
        try await scene.withWorker {
            try await scene.eventually("finished") { try await scene.total("finished") == 2 }
        }
        #expect(try await scene.total("recovered") == 1)
        #expect(scene.log.lines == ["ran"])
        try await scene.checkThatItIsOver()
    }

    @Test("a worker that dies after it has pushed a run causes no second run")
    func diesAfterTheRun() async throws {
        let scene = makeScene()
        try await scene.submit()
        let claim = try await claimAndDie(scene)
        _ = try await scene.broker.push([try run(of: claim)], to: BrokerScene.queue)
        try await scene.withWorker {
            try await scene.eventually("finished") { try await scene.total("finished") == 2 }
        }
        #expect(try await scene.total("recovered") == 1)
        #expect(scene.log.lines == ["ran"])
        try await scene.checkThatItIsOver()
    }

    @Test("a run that ended long ago is not pushed again either")
    func diesLongAfterTheRun() async throws {
        let later = Atomic<Int64>(0)
        let broker = MemoryBroker { MemoryBroker.systemTime() + later.load(ordering: .relaxed) }
        let scene = makeScene(broker)
        try await scene.submit()
        let claim = try await claimAndDie(scene)
        // This worker only has the run; the launch is not reported.
        _ = try await broker.push([try run(of: claim)], to: BrokerScene.queue)
        try await scene.withWorker(knowing: { $0.hasPrefix("run.") }) {
            try await scene.eventually("ran") { try await scene.total("finished") == 1 }
        }
        later.store(10 * 60_000, ordering: .relaxed)
        try await scene.withWorker {
            try await scene.eventually("over") { try await broker.status(of: BrokerScene.queue).queue.isEmpty }
        }
        #expect(try await scene.total("finished") == 2)
        #expect(scene.log.lines == ["ran"])
        try await scene.checkThatItIsOver()
    }

    @Test("a worker that stops during a task releases it, and another worker runs it")
    func stopsMidway() async throws {
        let first = BrokerScene()
        first.register { task in
            task.expirationHandler = {
                first.log.note("told to stop")
                task.setTaskCompleted(success: false)
            }
            first.log.keep(task)
        }
        try await first.submit()
        try await first.withWorker {
            try await first.eventually("launched") { first.log.tasks.count == 1 }
        }
        #expect(first.log.lines == ["told to stop"])
        let second = makeScene(first.broker)
        try await second.withWorker {
            try await second.eventually("finished") { try await second.total("finished") == 2 }
        }
        #expect(second.log.lines == ["ran"])
        try await second.checkThatItIsOver()
    }

    @Test("a push whose reply is lost is repeated with the same id", arguments: [1, 3])
    func answersAreLost(count: Int) async throws {
        let broker = ForgetfulBroker(lost: count)
        let place = TaskPlace(broker: MemoryBroker(), queue: BrokerScene.queue, logger: Logger(label: "tasks"))
        let receipt = try await place.push(try RequestedTask("a", .refresh).launch(in: BrokerScene.queue), on: broker)
        #expect(receipt.outcome == .exists)
        #expect(Set(broker.ids).count == 1)
        #expect(broker.ids.count == count + 1)
    }

    @Test("a reply that stays lost is reported as an error")
    func answersStayLost() async throws {
        let broker = ForgetfulBroker(lost: .max)
        let place = TaskPlace(broker: MemoryBroker(), queue: BrokerScene.queue, logger: Logger(label: "tasks"))
        let error = await #expect(throws: TaskScheduler.Error.self) {
            try await place.push(try RequestedTask("a", .refresh).launch(in: BrokerScene.queue), on: broker)
        }
        #expect(error?.code == .outcomeUnknown)
        #expect(error?.message.contains("did not confirm") == true)
        #expect(Set(broker.ids).count == 1)
    }
}

/// A broker that accepts pushes and loses its first replies.
private final class ForgetfulBroker: PushingBroker {
    private let broker = MemoryBroker()
    private let lost: Int
    private let pushed = Mutex<[String]>([])

    init(lost: Int) { self.lost = lost }

    var ids: [String] { pushed.withLock { $0 } }

    func now(on queue: String) async throws(BrokerError) -> Int64 { try await broker.now(on: queue) }

    func push(_ jobs: [JobEnvelope], to queue: String) async throws(BrokerError) -> [Receipt] {
        let number = pushed.withLock { pushed in
            pushed += jobs.map(\.id)
            return pushed.count
        }
        let receipts = try await broker.push(jobs, to: queue)
        guard number <= lost else { return receipts }
        if number.isMultiple(of: 2) { throw BrokerError(.notReachable, "gone") }
        return receipts.map { Receipt(id: $0.id, queue: queue, outcome: .unknown) }
    }
}
