import Foundation
import Testing

@testable import Backgroundable

/// A local scheduler with its own queue and clock, and a record of its tasks.
struct TaskScene: Sendable {
    static let identifier = "prices.refresh"

    let queue = BackgroundQueue()
    let scheduler: TaskScheduler
    let log = Box<[String]>([])
    let endings = Endings()

    init(
        allowances: TaskAllowances = TaskAllowances(),
        backgroundTasks: BackgroundTasks = .shared,
        clock: @escaping @Sendable () -> Date = { Date() },
        longestWait: TimeInterval = 60
    ) {
        let registry = TaskRegistry(permitted: [Self.identifier, "other"], allowances: allowances)
        var setting = LocalTaskSetting(registry: registry, queue: queue)
        setting.backgroundTasks = backgroundTasks
        setting.clock = clock
        setting.longestWait = longestWait
        scheduler = TaskScheduler(registry: registry, backlog: LocalTasks(setting))
        scheduler.onCompletion = { [endings] _, success in endings.note(success) }
    }

    func register(_ identifier: String = identifier, _ handler: @escaping @Sendable (ScheduledTask) -> Void) {
        #expect(scheduler.register(forTaskWithIdentifier: identifier, using: nil, launchHandler: handler))
    }

    /// Submits a request that is due in this many seconds.
    func submit(_ identifier: String = identifier, in seconds: TimeInterval? = nil) throws {
        try scheduler.submit(request(identifier, in: seconds))
    }

    func request(_ identifier: String = identifier, in seconds: TimeInterval? = nil) -> TaskRequest {
        let request = AppRefreshTaskRequest(identifier: identifier)
        request.earliestBeginDate = seconds.map { Date(timeIntervalSinceNow: $0) }
        return request
    }

    var pending: [TaskRequest] {
        let answer = Box<[TaskRequest]>([])
        scheduler.getPendingTaskRequests { requests in answer.change { $0 = requests } }
        return answer.now
    }
}

/// How tasks ended, one after the other.
final class Endings: Sendable {
    private let all = Box<[Bool]>([])
    private let more = Signal()

    var soFar: [Bool] { all.now }

    func note(_ success: Bool) {
        all.change { $0.append(success) }
        more.fire()
    }

    /// Waits for one more ending than was waited for before. Returns all of them.
    func next() -> [Bool] {
        #expect(more.wait())
        return all.now
    }
}

/// A wall clock that a test sets.
final class WallClock: Sendable {
    private let date = Box(Date(timeIntervalSince1970: 1_000_000_000))

    var now: Date { date.now }

    func move(by seconds: TimeInterval) {
        date.change { $0 += seconds }
    }
}
