import Errand
import Foundation
import HTTPTypes
import Synchronization

/// What is done with many jobs goes on by itself, and can be looked at and stopped.
final class BulkRuns: Sendable {
    /// With which jobs it is done.
    enum Jobs: Sendable {
        /// Those that are found, and no others.
        case found(@Sendable () async throws -> JobQuestion.Found)
        /// Whatever waits in a queue, to cancel it.
        case waiting(queue: String)
    }

    private struct Entry: Sendable {
        let id: String
        var run: BulkRun
        var work: Task<Void, Never>?
    }

    private static let most = 50

    private let entries = Mutex<[Entry]>([])

    /// All that are remembered, the latest first.
    var all: [(id: String, run: BulkRun)] { entries.withLock { $0.reversed().map { ($0.id, $0.run) } } }

    func run(_ id: String) -> BulkRun? { entries.withLock { entries in entries.first { $0.id == id }?.run } }

    /// Starts an action.
    ///
    /// - Parameter tell: told that it was begun, and then what became of it.
    /// - Returns: the run's id.
    /// - Throws: `PageProblem` when too many go on.
    func start(
        _ order: BulkRun.Order,
        with jobs: Jobs,
        on broker: any Broker,
        tell: @escaping @Sendable (_ outcome: String) -> Void
    ) throws -> String {
        let id = try enter(BulkRun(order))
        // Said at once as well: it may take long, and this process may not live to its end.
        tell("begun")
        let work = Task.detached { [self] in await perform(id, order.action, with: jobs, on: broker, tell) }
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
            entries[index].work = work
            if entries[index].run.stage == .stopping { work.cancel() }
        }
        return id
    }

    /// Tells a run to stop after the portion that it is at.
    ///
    /// - Returns: the run as it was before; `nil` when there is none of that id.
    func stop(_ id: String) -> BulkRun? {
        entries.withLock { entries -> BulkRun? in
            guard let index = entries.firstIndex(where: { $0.id == id }) else { return nil }
            let run = entries[index].run
            guard run.isGoing else { return run }
            entries[index].run.stage = .stopping
            entries[index].work?.cancel()
            return run
        }
    }

    /// Remembers a run; only what has ended is forgotten for it, so that what goes on can always be looked at.
    private func enter(_ run: BulkRun) throws -> String {
        let id = UUID().uuidString.lowercased()
        let isEntered = entries.withLock { entries in
            if entries.count >= Self.most {
                guard let ended = entries.firstIndex(where: { !$0.run.isGoing }) else { return false }
                entries.remove(at: ended)
            }
            entries.append(Entry(id: id, run: run))
            return true
        }
        if isEntered { return id }
        throw Self.tooMany
    }

    /// Refuses a further run where too many go on, before the broker is asked anything for it.
    func checkRoom() throws(PageProblem) {
        let isFull = entries.withLock { $0.count >= Self.most && $0.allSatisfy(\.run.isGoing) }
        if isFull { throw Self.tooMany }
    }

    private static var tooMany: PageProblem {
        let advice = "\(most) actions with many jobs go on already; wait until one ends, or stop one: see Actions"
        return PageProblem(status: .serviceUnavailable, message: advice)
    }

    func change(_ id: String, _ change: (inout BulkRun) -> Void) {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
            change(&entries[index].run)
        }
    }
}
