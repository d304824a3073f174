import Backgroundable
import Synchronization

/// The shutdown of a worker, in stages that only advance. `WorkerSession` acts on them; `docs/architecture.md` has the
/// order with its times.
final class Shutdown: Sendable {
    enum Stage: Int, Comparable, Sendable {
        case none
        /// The worker claims nothing more.
        case requested
        /// Running jobs are stopped.
        case urgent
        /// The worker no longer waits for the pollers' work.
        case overdue
        /// It no longer waits for their reports either; jobs that are still held are released with the session.
        case late
        /// It no longer waits for the release either.
        case over

        static func < (a: Stage, b: Stage) -> Bool { a.rawValue < b.rawValue }
    }

    private struct State {
        var stage = Stage.none
        var listener: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let grace: Duration
    private let stopGrace: Duration
    private let onRequest: @Sendable () -> Void
    /// Raised at every stage.
    let signal = Signal()

    /// Makes a shutdown that has not begun.
    ///
    /// - Parameter onRequest: Called when it begins.
    init(grace: Duration, stopGrace: Duration, onRequest: @escaping @Sendable () -> Void = {}) {
        self.grace = grace
        self.stopGrace = stopGrace
        self.onRequest = onRequest
    }

    var isRequested: Bool { has(reached: .requested) }
    var isUrgent: Bool { has(reached: .urgent) }
    var isOverdue: Bool { has(reached: .overdue) }

    func has(reached stage: Stage) -> Bool { state.withLock { $0.stage >= stage } }

    /// Calls `listener` at every later stage, and immediately if a stage has been reached. A new listener replaces the
    /// old one.
    func onChange(_ listener: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            state.listener = listener
            return state.stage > .none
        }
        if isLate { listener() }
    }

    /// Begins a graceful shutdown: running jobs may finish within the grace, whose last part is for stopping them.
    ///
    /// That part is at most a quarter, so that jobs can finish within a short grace, too. Commands that have not
    /// stopped at its end are killed, and the jobs of handlers that have not stopped are released.
    func request() {
        guard reach(.requested) else { return }
        schedule(.urgent, after: max(grace - stopGrace - .seconds(1), grace * 3 / 4))
        leave(after: grace, lastWords: .seconds(2))
    }

    /// Begins a fast shutdown: running jobs are stopped immediately.
    func hurry() {
        _ = reach(.requested)
        guard reach(.urgent) else { return }
        leave(after: stopGrace + .seconds(1), lastWords: .seconds(2))
    }

    /// Begins an immediate shutdown of a process that is about to exit: running jobs are stopped, and after a second
    /// the worker waits for nothing.
    func stopNow() {
        _ = reach(.requested)
        _ = reach(.urgent)
        leave(after: .milliseconds(500), lastWords: .milliseconds(500))
    }

    private func leave(after duration: Duration, lastWords: Duration) {
        schedule(.overdue, after: duration)
        schedule(.late, after: duration + lastWords / 2)
        schedule(.over, after: duration + lastWords)
    }

    private func schedule(_ stage: Stage, after duration: Duration) {
        _ = DeadlineTimer.shared.schedule(after: duration) { [weak self] in _ = self?.reach(stage) }
    }

    private func reach(_ stage: Stage) -> Bool {
        let listener = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.stage < stage else { return nil }
            state.stage = stage
            return state.listener ?? {}
        }
        if listener != nil, stage == .requested { onRequest() }
        listener?()
        signal.raise()
        return listener != nil
    }
}
