import Errand
import Foundation
import HTTPTypes
import Synchronization

/// The bulk actions, which run in the background and can be viewed and stopped.
final class BulkRuns: Sendable {
    /// The jobs of a bulk action.
    enum Jobs: Sendable {
        /// The jobs that this search finds.
        case found(@Sendable () async throws -> JobQuestion.Found)
        /// All jobs that wait in a queue, to cancel them.
        case waiting(queue: String)
    }

    private struct Entry: Sendable {
        let id: String
        var run: BulkRun
        var work: Task<Void, Never>?
    }

    private static let most = 50

    private let entries = Mutex<[Entry]>([])

    /// All remembered runs, latest first.
    var all: [(id: String, run: BulkRun)] { entries.withLock { $0.reversed().map { ($0.id, $0.run) } } }

    func run(_ id: String) -> BulkRun? { entries.withLock { entries in entries.first { $0.id == id }?.run } }

    /// Starts an action in the background.
    ///
    /// - Parameter tell: Called when the run begins and again with its outcome.
    /// - Returns: The run's id.
    /// - Throws: `PageProblem` if too many runs are in progress.
    func start(
        _ order: BulkRun.Order,
        with jobs: Jobs,
        on broker: any Broker,
        tell: @escaping @Sendable (_ outcome: String) -> Void
    ) throws -> String {
        let id = try enter(BulkRun(order))
        // Log the start, too: the run may take long, and this process may not live until its end.
        tell("begun")
        let work = Task.detached { [self] in await perform(id, order.action, with: jobs, on: broker, tell) }
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
            entries[index].work = work
            if entries[index].run.stage == .stopping { work.cancel() }
        }
        return id
    }

    /// Stops a run after its current portion.
    ///
    /// - Returns: The run as it was before; `nil` if there is none with that id.
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

    /// Remembers a run. Only ended runs are forgotten to make room, so that running ones stay visible.
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

    /// Rejects a further run if too many are in progress, before the broker does any work for it.
    func checkRoom() throws(PageProblem) {
        let isFull = entries.withLock { $0.count >= Self.most && $0.allSatisfy(\.run.isGoing) }
        if isFull { throw Self.tooMany }
    }

    private static var tooMany: PageProblem {
        let advice = "\(most) bulk actions are already running; wait until one ends, or stop one: see Actions"
        return PageProblem(status: .serviceUnavailable, message: advice)
    }

    func change(_ id: String, _ change: (inout BulkRun) -> Void) {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
            change(&entries[index].run)
        }
    }
}
