import ErrandCommandLine
import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The worker processes that a command has started.
///
/// One lock covers every signal and every check of an exit status, and a process is forgotten once it is reaped. So no
/// signal can reach a later process with the same pid.
final class WorkerProcesses: Sendable {
    private struct State: Sendable {
        var living: [WorkerProcess] = []
        var started = 0
    }

    private let state = Mutex(State())
    private let arguments: [String]
    private let line: String?

    /// Makes an empty set; `line` is the first line on each process's standard input.
    init(arguments: [String], line: String? = nil) {
        self.arguments = arguments
        self.line = line
    }

    /// Starts a process with further arguments. Its standard output is `output`, or discarded if that is `nil`.
    @discardableResult
    func start(_ more: [String] = [], output: Int32? = nil) throws -> WorkerProcess {
        try state.withLock { state in
            let number = state.started + 1
            let worker = try WorkerProcess(number: number, arguments: arguments + more, line: line, output: output)
            state.started += 1
            state.living.append(worker)
            return worker
        }
    }

    var living: [WorkerProcess] { state.withLock { $0.living } }

    /// Sends a signal to a process if it is still running.
    func signal(_ worker: WorkerProcess, _ signal: Int32) {
        state.withLock { if $0.living.contains(where: { $0.pid == worker.pid }) { worker.signal(signal) } }
    }

    /// Kills a process with SIGKILL and waits until it has exited.
    func kill(_ worker: WorkerProcess) {
        signal(worker, SIGKILL)
        Patience.wait(atMost: 5) { state.withLock { Self.takeEnded(from: &$0, only: worker.pid) } }
    }

    /// Returns the processes that have exited unexpectedly since the last call.
    func takeEnded() -> [WorkerProcess] {
        state.withLock { state in
            let ended = state.living.filter { $0.endedStatus() != nil }
            for worker in ended { Self.forget(worker, in: &state) }
            return ended
        }
    }

    /// Stops all processes and waits until they have exited; those that take too long are killed. Blocks.
    func end() {
        state.withLock { state in
            for worker in state.living {
                worker.letGo()
                // A stopped process cannot notice that its lifeline is closed.
                worker.signal(SIGCONT)
            }
            let hasEnded = { (worker: WorkerProcess) in worker.endedStatus() != nil }
            Patience.wait(atMost: 5) {
                state.living.removeAll(where: hasEnded)
                return state.living.isEmpty
            }
            for worker in state.living { worker.signal(SIGKILL) }
            Patience.wait(atMost: 5) {
                state.living.removeAll(where: hasEnded)
                return state.living.isEmpty
            }
        }
    }

    private static func takeEnded(from state: inout State, only pid: pid_t) -> Bool {
        guard let worker = state.living.first(where: { $0.pid == pid }) else { return true }
        guard worker.endedStatus() != nil else { return false }
        forget(worker, in: &state)
        return true
    }

    private static func forget(_ worker: WorkerProcess, in state: inout State) {
        state.living.removeAll { $0.pid == worker.pid }
        worker.letGo()
    }
}
