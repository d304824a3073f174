import Foundation

/// Calls user-provided handlers once each, in order, on separate threads.
///
/// They are called one after the other. If a handler does not return for a while, the others are called on another
/// thread.
final class HandlerCalls: Sendable {
    typealias Handler = @Sendable () -> Void

    private struct Progress {
        var begun = 0
        var returned = 0
    }

    /// How long the others wait for a handler that does not return.
    private static let patience = Duration.milliseconds(250)

    private let handlers: [Handler]
    private let onEnd: Handler
    private let progress = Locked(Progress())

    private init(_ handlers: [Handler], onEnd: @escaping Handler) {
        self.handlers = handlers
        self.onEnd = onEnd
    }

    /// Calls `handlers`, and `onEnd` when all of them have returned (immediately if there are none).
    static func start(_ handlers: [Handler], onEnd: @escaping Handler = {}) {
        guard !handlers.isEmpty else { return onEnd() }
        let calls = HandlerCalls(handlers, onEnd: onEnd)
        calls.addThread()
        calls.watch(since: 0)
    }

    private func addThread() {
        let thread = Thread { self.serve() }
        thread.name = "termination handlers"
        thread.start()
    }

    /// Adds a thread whenever no handler has begun for a while.
    private func watch(since seen: Int) {
        _ = DeadlineTimer.shared.schedule(after: HandlerCalls.patience) { [self] in
            let begun = progress.withLock { $0.begun }
            guard begun < handlers.count else { return }
            if begun == seen { addThread() }
            watch(since: begun)
        }
    }

    private func serve() {
        while let handler = next() {
            handler()
            let isLast = progress.withLock { progress in
                progress.returned += 1
                return progress.returned == handlers.count
            }
            if isLast { onEnd() }
        }
    }

    private func next() -> Handler? {
        progress.withLock { progress in
            guard progress.begun < handlers.count else { return nil }
            progress.begun += 1
            return handlers[progress.begun - 1]
        }
    }
}
