import Foundation

/// Stores requests in this process, and runs their tasks on a background queue.
final class LocalTasks: TaskBacklog {
    private let setting: LocalTaskSetting
    private let tasks = Locked<[String: LocalTask]>([:])

    init(_ setting: LocalTaskSetting) {
        self.setting = setting
    }

    convenience init(registry: TaskRegistry, queue: BackgroundQueue) {
        self.init(LocalTaskSetting(registry: registry, queue: queue))
    }

    func accepts(_ identifier: String) -> Bool { true }

    func noteRegistration(of identifier: String) {
        known(identifier)?.review()
    }

    func submit(_ requested: RequestedTask, _ answer: @escaping TaskAnswer<Void>) {
        task(requested.identifier).request(requested)
        answer(.success(()))
    }

    func cancel(_ identifier: String, _ answer: @escaping TaskAnswer<Void>) {
        known(identifier)?.request(nil)
        answer(.success(()))
    }

    func cancelAll(_ answer: @escaping TaskAnswer<Void>) {
        for task in all { task.request(nil) }
        answer(.success(()))
    }

    func pending(_ answer: @escaping TaskAnswer<[RequestedTask]>) {
        answer(.success(all.compactMap(\.pending)))
    }

    private var all: [LocalTask] {
        tasks.withLock { Array($0.values) }
    }

    private func known(_ identifier: String) -> LocalTask? {
        tasks.withLock { $0[identifier] }
    }

    /// Entries are never removed, because there is at most one for each permitted identifier.
    private func task(_ identifier: String) -> LocalTask {
        tasks.withLock { tasks in
            if let known = tasks[identifier] { return known }
            let made = LocalTask(identifier, setting)
            tasks[identifier] = made
            return made
        }
    }
}

/// The settings that the tasks of a local scheduler share.
struct LocalTaskSetting: Sendable {
    let registry: TaskRegistry
    let queue: BackgroundQueue
    var backgroundTasks = BackgroundTasks.shared
    /// The wall clock.
    var clock: @Sendable () -> Date = { Date() }
    /// The longest time until the wall clock is read again, because it may have been set.
    var longestWait: TimeInterval = 60
}
