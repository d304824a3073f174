import Dispatch

/// A launched task, which its handler receives.
///
/// The handler does its work, or starts it elsewhere, and makes sure that ``setTaskCompleted(success:)`` is called.
/// Until then the task counts as running. Set ``expirationHandler`` before beginning the work. All members can be used
/// on any thread.
///
/// Unchecked because it has subclasses. All mutable state is locked.
public class ScheduledTask: @unchecked Sendable, CustomStringConvertible {
    private struct State {
        var expirationHandler: (@Sendable () -> Void)?
        var onCompletion: (@Sendable (Bool) -> Void)?
        var isExpired = false
        var isCompleted = false
        /// Whether an expiration handler has been called.
        var wasAskedToStop = false

        /// Returns the handler if it has to be called now. Returns it once.
        mutating func takeDueHandler() -> (@Sendable () -> Void)? {
            guard isExpired, !isCompleted, !wasAskedToStop, let handler = expirationHandler else { return nil }
            wasAskedToStop = true
            return handler
        }
    }

    private let state = Locked(State())

    /// The identifier of the request and the registration.
    public let identifier: String

    init(identifier: String) {
        self.identifier = identifier
    }

    /// Called when the work must stop: shortly before the task's allowance ends, when the process is about to exit, or
    /// when the run was cancelled.
    ///
    /// It is called once, on a dispatch thread. If it is set after that moment, it is called immediately. It is not
    /// called after the task was completed, which releases it. It should stop the work and make sure that
    /// ``setTaskCompleted(success:)`` is called within the remaining seconds.
    public final var expirationHandler: (@Sendable () -> Void)? {
        get { state.withLock { $0.expirationHandler } }
        set {
            // The old handler is released outside the lock, because that may run user code.
            let (old, due) = state.withLock { state -> ((@Sendable () -> Void)?, (@Sendable () -> Void)?) in
                guard !state.isCompleted else { return (nil, nil) }
                let old = state.expirationHandler
                state.expirationHandler = newValue
                return (old, state.takeDueHandler())
            }
            withExtendedLifetime(old) {}
            call(due)
        }
    }

    /// Whether the task has expired, with or without an expiration handler.
    public final var isExpired: Bool {
        state.withLock { $0.isExpired }
    }

    /// Ends the task. Calls after the first, and after the end of the allowance, have no effect.
    ///
    /// - Parameter success: Whether the work was done. A task without success is not launched again; submit another
    ///   request for that.
    public final func setTaskCompleted(success: Bool) {
        let (onCompletion, handler) = state.withLock { state -> ((@Sendable (Bool) -> Void)?, Any?) in
            guard !state.isCompleted else { return (nil, nil) }
            state.isCompleted = true
            return (state.onCompletion.take(), state.expirationHandler.take())
        }
        // A handler usually captures its task. Releasing it here breaks the reference cycle.
        withExtendedLifetime(handler) {}
        onCompletion?(success)
    }

    /// A description of the task for log texts.
    public final var description: String {
        let (isCompleted, isExpired) = state.withLock { ($0.isCompleted, $0.isExpired) }
        let phrase = isCompleted ? "completed" : isExpired ? "asked to stop" : "running"
        return "\(type(of: self)) \"\(identifier)\" (\(phrase))"
    }

    /// Sets the closure that is called on completion. Must be called before other code has the task.
    func whenCompleted(_ action: @escaping @Sendable (Bool) -> Void) {
        state.withLock { $0.onCompletion = action }
    }

    /// Expires the task. Returns quickly, because the handler is called on another thread.
    func expire() {
        let due = state.withLock { state in
            state.isExpired = true
            return state.takeDueHandler()
        }
        call(due)
    }

    private func call(_ handler: (@Sendable () -> Void)?) {
        if let handler { DispatchQueue.global().async(execute: handler) }
    }
}

/// A launched task that was requested by an ``AppRefreshTaskRequest``.
///
/// Unchecked for the same reason as its superclass. It has no variables.
public final class AppRefreshTask: ScheduledTask, @unchecked Sendable {}

/// A launched task that was requested by a ``ProcessingTaskRequest``.
///
/// Unchecked for the same reason as its superclass. It has no variables.
public final class ProcessingTask: ScheduledTask, @unchecked Sendable {}
