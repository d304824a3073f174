import Backgroundable
import Errand
import ErrandRedis
import Foundation
import Logging
import TestSupport
import Testing

/// The tests of task schedulers on Redis.
@Suite("Task schedulers on RedisBroker", .timeLimit(.minutes(6)))
struct RedisTaskSchedulerTests {
    private static let identifier = "prices.refresh"
    private static let server = Result { try RedisServer() }

    /// A broker and a scheduler with a queue of its own.
    private func withScheduler(
        _ body: (_ scheduler: TaskScheduler, _ total: (String) async throws -> Int) async throws -> Void
    ) async throws {
        let logger = Logger(label: "tasks")
        let broker = RedisBroker(try RedisAddress(url: Self.server.get().url), logger: logger)
        defer { broker.close() }
        let queue = "tasks-" + UUID().uuidString
        let scheduler = TaskScheduler(
            broker: broker,
            queue: queue,
            permittedIdentifiers: [Self.identifier, "other"],
            logger: logger
        )
        try await body(scheduler) { try await broker.status(of: queue).queue.totals[$0] }
        #expect(try await broker.audit(queue, repair: false) == [])
        let left = try await broker.status(of: queue).queue
        #expect(left.ready + left.scheduled + left.running + left.retrying + left.deferred == 0)
    }

    private func working(_ scheduler: TaskScheduler, _ body: () async throws -> Void) async throws {
        let worker = try scheduler.makeWorker(lease: .seconds(2))
        let work = Task { try await worker.run() }
        do {
            try await body()
        } catch {
            work.cancel()
            throw error
        }
        work.cancel()
        try await work.value
    }

    private func eventually(_ what: String, _ isSo: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(120)
        while try await !isSo() {
            try #require(ContinuousClock.now < end, "not within 120 s: \(what)")
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test("requests wait, are listed, replaced and cancelled")
    func keepsRequests() async throws {
        try await withScheduler { scheduler, _ in
            let request = ProcessingTaskRequest(identifier: Self.identifier)
            request.requiresNetworkConnectivity = true
            request.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
            try await scheduler.submit(request)
            request.earliestBeginDate = Date(timeIntervalSinceNow: 7200)
            let submit: () throws -> Void = { try scheduler.submit(request) }
            try submit()
            try await scheduler.submit(AppRefreshTaskRequest(identifier: "other"))
            let pending = try await scheduler.loadPendingTaskRequests().sorted { $0.identifier < $1.identifier }
            #expect(pending.map(\.identifier) == ["other", Self.identifier])
            #expect((pending.last as? ProcessingTaskRequest)?.requiresNetworkConnectivity == true)
            #expect(try #require(pending.last?.earliestBeginDate).timeIntervalSinceNow > 3700)
            try await scheduler.cancel(taskRequestWithIdentifier: Self.identifier)
            try await scheduler.cancel(taskRequestWithIdentifier: Self.identifier)
            #expect(try await scheduler.loadPendingTaskRequests().map(\.identifier) == ["other"])
            try await scheduler.cancelAllTaskRequests()
            #expect(try await scheduler.loadPendingTaskRequests().isEmpty)
        }
    }

    @Test("a task may request its own next launch, which waits until it ends")
    func requestsItself() async throws {
        try await withScheduler { scheduler, total in
            let tasks = Locked<[ScheduledTask]>([])
            scheduler.register(forTaskWithIdentifier: Self.identifier, using: nil) { task in
                if tasks.withLock({ $0.isEmpty }) {
                    try? scheduler.submit(AppRefreshTaskRequest(identifier: Self.identifier))
                }
                tasks.withLock { $0.append(task) }
            }
            try await scheduler.submit(AppRefreshTaskRequest(identifier: Self.identifier))
            try await working(scheduler) {
                try await eventually("the next one gave way") { try await total("dropped") > 0 }
                #expect(tasks.withLock { $0.count } == 1)
                #expect(tasks.withLock { $0.first?.isExpired } == false)
                tasks.withLock { $0.first }?.setTaskCompleted(success: true)
                try await eventually("launched again") { tasks.withLock { $0.count } == 2 }
                tasks.withLock { $0.last }?.setTaskCompleted(success: true)
                try await eventually("finished") { try await total("finished") == 4 }
            }
        }
    }

    @Test("an unreachable broker is reported as an error")
    func saysWhenTheBrokerIsGone() async throws {
        let broker = RedisBroker(try RedisAddress(url: "unix:///nowhere/at/all"), logger: Logger(label: "tasks"))
        defer { broker.close() }
        let scheduler = TaskScheduler(broker: broker, permittedIdentifiers: [Self.identifier])
        // Concurrently, because a broker has some seconds to come back.
        async let submitted = failure(of: {
            try await scheduler.submit(AppRefreshTaskRequest(identifier: Self.identifier))
        })
        async let listed = failure(of: { _ = try await scheduler.loadPendingTaskRequests() })
        async let pending = scheduler.pendingTaskRequests()
        for error in [await submitted, await listed] {
            #expect(error?.code == .unavailable)
            #expect(error?.localizedDescription.contains("/nowhere/at/all") == true)
        }
        #expect(await pending.isEmpty)
    }

    private func failure(of call: @Sendable () async throws -> Void) async -> TaskScheduler.Error? {
        do {
            try await call()
            return nil
        } catch {
            return error as? TaskScheduler.Error
        }
    }
}
