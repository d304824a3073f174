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

/// Worker processes that a command has started for itself.
///
/// Every signal and every look at an exit status happens under one lock, and a process is forgotten with its status: so
/// no signal can reach a process that was given the same number later.
final class WorkerProcesses: Sendable {
    private struct State: Sendable {
        var living: [WorkerProcess] = []
        var started = 0
    }

    private let state = Mutex(State())
    private let arguments: [String]
    private let line: String?

    /// Makes none yet; `line` is what each is told on its standard input.
    init(arguments: [String], line: String? = nil) {
        self.arguments = arguments
        self.line = line
    }

    /// Starts one more, with further arguments; what it writes on standard output goes to `output`, or nowhere.
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

    /// Sends one a signal if it still lives.
    func signal(_ worker: WorkerProcess, _ signal: Int32) {
        state.withLock { if $0.living.contains(where: { $0.pid == worker.pid }) { worker.signal(signal) } }
    }

    /// Kills one with SIGKILL and waits for its end.
    func kill(_ worker: WorkerProcess) {
        signal(worker, SIGKILL)
        Patience.wait(atMost: 5) { state.withLock { Self.takeEnded(from: &$0, only: worker.pid) } }
    }

    /// Those that ended since the last look without having been told to.
    func takeEnded() -> [WorkerProcess] {
        state.withLock { state in
            let ended = state.living.filter { $0.endedStatus() != nil }
            for worker in ended { Self.forget(worker, in: &state) }
            return ended
        }
    }

    /// Tells all of them to leave and waits until they have; who takes too long is killed. Blocks.
    func end() {
        state.withLock { state in
            for worker in state.living {
                worker.letGo()
                // A stopped one cannot see that its lifeline has ended.
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
