import Errand
import Synchronization

/// Handlers that wait until the test releases them, even if they are told to stop.
final class HeldJobs: Sendable {
    private struct State {
        var begun: [JobContext] = []
        var cancelled: [String] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// The runs that have begun, in order.
    var begun: [JobContext] { state.withLock { $0.begun } }

    /// The jobs whose tasks were cancelled, in order.
    var cancelled: [String] { state.withLock { $0.cancelled } }

    /// An operation with such a handler.
    ///
    /// - Parameter leavesWhenTold: Whether it finishes when its task is cancelled.
    func operation(
        _ name: String = "stay",
        timeout: Duration = .seconds(600),
        leavesWhenTold: Bool = false
    ) -> RegisteredOperation {
        RegisteredOperation(name, timeout: timeout) { [self] (job: JobContext) async throws -> Void in
            await stay(job, leavesWhenTold: leavesWhenTold)
        }
    }

    /// The body of such a handler.
    func stay(_ job: JobContext, leavesWhenTold: Bool = false) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                state.withLock { state in
                    state.begun.append(job)
                    state.waiting.append(continuation)
                }
            }
        } onCancel: {
            state.withLock { $0.cancelled.append(job.id) }
            if leavesWhenTold { letGo() }
        }
    }

    /// Releases the handlers that wait now.
    func letGo() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for handler in waiting { handler.resume() }
    }
}
