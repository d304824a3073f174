import Dispatch

/// A launched task, as its handler gets it.
///
/// The handler does its work, or starts it elsewhere, and makes sure that somebody calls
/// ``setTaskCompleted(success:)``: until then the task counts as running. It should set ``expirationHandler`` before it
/// begins. All of it is safe on any thread.
///
/// Unchecked because it has subclasses; everything that changes here is in a lock.
public class ScheduledTask: @unchecked Sendable, CustomStringConvertible {
    private struct State {
        var expirationHandler: (@Sendable () -> Void)?
        var onCompletion: (@Sendable (Bool) -> Void)?
        var isExpired = false
        var isCompleted = false
        /// Whether an expiration handler has been called.
        var wasToldToStop = false

        /// The handler, if it is to be called now. It is given out once.
        mutating func takeDueHandler() -> (@Sendable () -> Void)? {
            guard isExpired, !isCompleted, !wasToldToStop, let handler = expirationHandler else { return nil }
            wasToldToStop = true
            return handler
        }
    }

    private let state = Locked(State())

    /// The identifier that it was requested and registered with.
    public let identifier: String

    init(identifier: String) {
        self.identifier = identifier
    }

    /// Called when the work must stop: shortly before the task's allowance ends, when the process is about to leave,
    /// or when somebody cancelled the run. It is called once, on a dispatch thread; at once if it is set when that
    /// moment has passed already, and not any more after the task was completed, which lets go of it.
    ///
    /// It should stop the work and see to it that ``setTaskCompleted(success:)`` is called within the seconds that are
    /// left.
    public final var expirationHandler: (@Sendable () -> Void)? {
        get { state.withLock { $0.expirationHandler } }
        set {
            // The old handler is let go of after the lock: what it holds may be anything.
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

    /// Whether the work was told to stop, with an expiration handler or without one.
    public final var isExpired: Bool {
        state.withLock { $0.isExpired }
    }

    /// Ends the task. Only the first call counts; one that comes after the allowance ended changes nothing.
    ///
    /// - Parameter success: Whether the work was done. A task that ends without success is not launched again by
    ///   itself; submit another request for that.
    public final func setTaskCompleted(success: Bool) {
        let (onCompletion, handler) = state.withLock { state -> ((@Sendable (Bool) -> Void)?, Any?) in
            guard !state.isCompleted else { return (nil, nil) }
            state.isCompleted = true
            return (state.onCompletion.take(), state.expirationHandler.take())
        }
        // A handler usually holds its task: letting go of it here ends that circle.
        withExtendedLifetime(handler) {}
        onCompletion?(success)
    }

    /// The task for people.
    public final var description: String {
        let (isCompleted, isExpired) = state.withLock { ($0.isCompleted, $0.isExpired) }
        let phrase = isCompleted ? "completed" : isExpired ? "told to stop" : "running"
        return "\(type(of: self)) \"\(identifier)\" (\(phrase))"
    }

    /// Has the owner told of the completion; to be set before anybody else has the task.
    func whenCompleted(_ action: @escaping @Sendable (Bool) -> Void) {
        state.withLock { $0.onCompletion = action }
    }

    /// Tells the work to stop. Quick: the handler is called elsewhere.
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
/// Unchecked for the reason of its superclass; there is no variable here.
public final class AppRefreshTask: ScheduledTask, @unchecked Sendable {}

/// A launched task that was requested by a ``ProcessingTaskRequest``.
///
/// Unchecked for the reason of its superclass; there is no variable here.
public final class ProcessingTask: ScheduledTask, @unchecked Sendable {}
