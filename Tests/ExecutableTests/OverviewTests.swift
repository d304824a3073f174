import Errand
import ErrandOperator
import Synchronization
import Testing

/// The state of many queues, read at once.
@Suite struct OverviewTests {
    @Test func manyQueuesAreReadSomeAtOnceAndStayInTheirOrder() async throws {
        let broker = SlowBroker()
        let names = (0..<50).map { "q\($0)" }
        let overview = try await Overview(of: names, on: broker)
        #expect(overview.queues.map(\.name) == names)
        #expect((2...16).contains(broker.mostAtOnce))
    }

    @Test func `a queue that cannot be read is left out and named`() async throws {
        let names = (0..<20).map { "q\($0)" }
        let overview = try await Overview(of: ["refused"] + names, on: SlowBroker())
        #expect(overview.queues.map(\.name) == names)
        let error = BrokerError(.refused, "no such luck")
        #expect(overview.unreadable == [UnreadablePlace(queue: "refused", error: error)])
    }

    @Test func `a broker that cannot be reached is the error of all`() async throws {
        let error = BrokerError(.notReachable, "away")
        await #expect(throws: error) { _ = try await Overview(of: ["away", "away"], on: SlowBroker()) }
        // Other servers of a cluster may serve the others.
        let overview = try await Overview(of: ["q", "away"], on: SlowBroker())
        #expect(overview.queues.map(\.name) == ["q"])
        #expect(overview.unreadable == [UnreadablePlace(queue: "away", error: error)])
    }

    @Test func `a worker of several queues executes no more than its concurrency`() {
        func session(_ id: String, _ executing: Int) -> SessionStatus {
            SessionStatus(
                id: id,
                host: "here",
                pid: 1,
                running: executing,
                executing: executing,
                concurrency: 8,
                lastBeatMilliseconds: 0,
                operations: []
            )
        }
        func queue(_ name: String, _ executing: Int) -> QueueStatus {
            QueueStatus(
                name: name,
                isPaused: false,
                ready: 0,
                scheduled: 0,
                running: executing,
                executing: executing,
                retrying: 0,
                dead: 0,
                deferred: 0,
                oldestReadyMilliseconds: 0,
                unknownOperations: [:],
                totals: QueueStatus.Totals(counts: [:])
            )
        }
        var overview = Overview()
        overview.add(queue("a", 8 + 3), [session("one", 8), session("two", 3)])
        overview.add(queue("b", 8), [session("one", 8)])
        overview.add(queue("c", 2), [session("two", 2)])
        #expect(overview.workers.map(\.session.executing).sorted() == [5, 8])
        #expect(overview.queues.map(\.executing) == [4 + 3, 4, 2])
        #expect(overview.queues.map(\.running) == [11, 8, 2])
        // Claims of a broken broker must not stop the program.
        overview.add(queue("d", .max), [session("three", .max)])
        overview.add(queue("e", .max), [session("three", .max)])
        #expect(overview.queues.count == 5)
    }

    @Test func noQueuesNeedNoCalls() async throws {
        let broker = SlowBroker()
        #expect(try await Overview(of: [], on: broker).queues.isEmpty)
        #expect(broker.mostAtOnce == 0)
    }
}

/// A broker that delays the status of a queue, longest for the first ones.
private final class SlowBroker: ConsoleBroker {
    private struct Calls {
        var now = 0
        var most = 0
    }

    private let calls = Mutex(Calls())

    /// The largest number of concurrent calls.
    var mostAtOnce: Int { calls.withLock { $0.most } }

    func status(of queue: String) async throws(BrokerError) -> (queue: QueueStatus, sessions: [SessionStatus]) {
        calls.withLock { calls in
            calls.now += 1
            calls.most = max(calls.most, calls.now)
        }
        defer { calls.withLock { $0.now -= 1 } }
        if queue == "refused" { throw BrokerError(.refused, "no such luck") }
        if queue == "away" { throw BrokerError(.notReachable, "away") }
        try? await Task.sleep(for: .milliseconds(queue.count == 2 ? 60 : 20))
        let status = QueueStatus(
            name: queue,
            isPaused: false,
            ready: 0,
            scheduled: 0,
            running: 0,
            retrying: 0,
            dead: 0,
            deferred: 0,
            oldestReadyMilliseconds: 0,
            unknownOperations: [:],
            totals: QueueStatus.Totals(counts: [:])
        )
        return (status, [])
    }

    func queues() async throws(BrokerError) -> [String] { [] }
    func setFlow(_ queue: String, matching pattern: String, _ rule: FlowRule) async throws(BrokerError) {}
    func deleteFlow(_ queue: String, matching pattern: String) async throws(BrokerError) -> Bool { false }
    func flow(of queue: String) async throws(BrokerError) -> [FlowPattern] { [] }
    func groups(of queue: String, named group: String?, most: Int) async throws(BrokerError) -> [GroupStatus] { [] }
    func createQueue(_ queue: String) async throws(BrokerError) -> Bool { false }
    func hasQueue(_ queue: String) async throws(BrokerError) -> Bool { true }
    func deleteQueue(_ queue: String, force: Bool) async throws(BrokerError) -> QueueDeletion { .notFound }
    func inspect(_ ids: [String], on queue: String) async throws(BrokerError) -> [JobRecord?] { ids.map { _ in nil } }
    func events(
        of queues: [String]?,
        onSubscribed: @escaping @Sendable () -> Void
    ) -> AsyncThrowingStream<QueueEvents, any Error> {
        AsyncThrowingStream { $0.finish() }
    }
    func jobs(
        in state: JobState,
        on queue: String,
        from cursor: Int,
        count: Int
    ) async throws(BrokerError) -> JobPage {
        JobPage()
    }
    func cancel(_ ids: [String], on queue: String) async throws(BrokerError) -> [EndingOutcome] { [] }
    func delete(_ ids: [String], on queue: String) async throws(BrokerError) -> [EndingOutcome] { [] }
    func retry(_ ids: [String], on queue: String) async throws(BrokerError) -> [RetryOutcome] { [] }
    func clear(_ queue: String) async throws(BrokerError) -> Int { 0 }
    func configure(_ queue: String, _ change: QueueSettings) async throws(BrokerError) {}
    func audit(_ queue: String, repair: Bool) async throws(BrokerError) -> [Finding] { [] }
}
