import Errand
import Foundation
import Synchronization

/// A child of a `serve` operation: it gets one job at a time, and reports on it.
///
/// Whatever it does otherwise, such as writing something else, ending, or not stopping, costs the job that it has, and no
/// other one: the child is stopped, and another one takes the next job.
final class ServedChild: Sendable {
    private struct State {
        var process: LivingChild?
        var pid: pid_t?
        var lines = ServedLines()
        /// The job that it has, until it has reported the outcome.
        var run: ServedRun?
        /// What it has written that it must not.
        var violation: String?
        var isStarted = false
        /// Whether a run of it was cancelled.
        var isCancelled = false
        var isStopped = false
        var result: ChildResult?
        var jobsDone = 0
    }

    private let command: ServedCommand
    /// Called on the children's thread when it has reported an outcome, so that it may have another job.
    private let onFree: @Sendable (ServedChild) -> Void
    private let state = Mutex(State())

    init(_ command: ServedCommand, onFree: @escaping @Sendable (ServedChild) -> Void) {
        self.command = command
        self.onFree = onFree
    }

    /// Starts the process.
    func start(operation: String) {
        state.withLock { $0.isStarted = true }
        var child = ChildCommand(command.arguments)
        child.environment = ["ERRAND_PROTOCOL": ServedJob.version, "ERRAND_OPERATION": operation]
        child.onOutput = { [weak self] in self?.take($0) }
        let process = ChildProcesses.shared.start(
            child,
            onStart: { pid in self.state.withLock { $0.pid = pid } },
            onEnd: { self.ended($0) }
        )
        state.withLock { $0.process = process }
    }

    /// Whether its process was started, which may have ended since.
    var isStarted: Bool { state.withLock { $0.isStarted } }

    /// Whether it can take a job.
    var isUsable: Bool { state.withLock { $0.result == nil && !$0.isStopped && $0.run == nil } }

    /// Whether another child is to take the next job.
    var isWorn: Bool {
        let (jobs, pid) = state.withLock { ($0.jobsDone, $0.pid) }
        if let most = command.mostJobs, jobs >= most { return true }
        guard let most = command.mostMemory, let pid else { return false }
        return ResidentMemory.bytes(of: pid) > most
    }

    /// Whether it has done a job.
    var hasWorked: Bool { state.withLock { $0.jobsDone > 0 } }

    /// Whether it has ended, or has broken the protocol, before it had done a job.
    var hasFailed: Bool {
        state.withLock { $0.jobsDone == 0 && !$0.isCancelled && ($0.result != nil || $0.violation != nil) }
    }

    /// What became of a job that it was to take.
    enum Beginning {
        /// It has the job.
        case begun
        /// The job needs no child any more.
        case cancelled
        /// It has ended before.
        case ended(ChildResult, HandlerOutcome)
    }

    /// Takes a job, on any thread.
    func begin(_ run: ServedRun) -> Beginning {
        let (beginning, process) = state.withLock { state -> (Beginning, LivingChild?) in
            if let result = state.result {
                return (.ended(result, HandlerOutcome(result, of: state.violation)), nil)
            }
            guard run.assign(self) else { return (.cancelled, nil) }
            state.run = run
            return (.begun, state.process)
        }
        process?.write(run.line)
        return beginning
    }

    /// Lets a child without a job end. One that does not is stopped.
    func finish() {
        let process = state.withLock { state in
            state.isStopped = true
            return state.process
        }
        process?.finish()
    }

    /// Stops the child, whatever it does, if it still has a job that was cancelled.
    func stop(for run: ServedRun) {
        let process = state.withLock { state -> LivingChild? in
            guard state.run === run else { return nil }
            // At once, so that it is given no other job.
            (state.isCancelled, state.isStopped) = (true, true)
            return state.process
        }
        process?.stop()
    }

    private func stop() {
        let process = state.withLock { state in
            state.isStopped = true
            return state.process
        }
        process?.stop()
    }

    // MARK: On the children's thread

    private func take(_ bytes: UnsafeRawBufferPointer) {
        var lines: [[UInt8]] = []
        let isShort = state.withLock { state in
            state.violation != nil || state.lines.add(bytes) { lines.append($0) }
        }
        var ended: [(run: ServedRun, outcome: HandlerOutcome)] = []
        for line in lines where state.withLock({ $0.violation == nil }) { take(line, &ended) }
        if !isShort { violate("it wrote a line of more than \(ServedLines.mostBytes) bytes to standard output") }
        // It goes on before its last job does.
        if !ended.isEmpty { onFree(self) }
        for (run, outcome) in ended { run.end(outcome) }
    }

    private func take(_ line: [UInt8], _ ended: inout [(run: ServedRun, outcome: HandlerOutcome)]) {
        let report: ServedReport
        do throws(ServedReport.Problem) { report = try ServedReport(line: line) } catch {
            return violate("it wrote to standard output \(error.reason)")
        }
        let run = state.withLock { state -> ServedRun? in
            guard let run = state.run, (run.id, run.token) == (report.id, report.token) else { return nil }
            if case .outcome = report.content { (state.run, state.jobsDone) = (nil, state.jobsDone + 1) }
            return run
        }
        guard let run else {
            return violate("it reported on job \(report.id.prefix(64)), which it is not running with this token")
        }
        switch report.content {
        case .outcome(let outcome): ended.append((run, outcome))
        case .progress(let fraction, let message): run.report { $0.progress = (fraction, message) }
        case .checkpoint(let value): run.report { $0.checkpoint = value }
        }
    }

    private func violate(_ what: String) {
        state.withLock { $0.violation = $0.violation ?? what }
        stop()
    }

    private func ended(_ result: ChildResult) {
        let (run, violation) = state.withLock { state in
            defer { state.run = nil }
            state.result = result
            return (state.run, state.violation)
        }
        run?.end(HandlerOutcome(result, of: violation), lost: (self, result))
    }
}

extension HandlerOutcome {
    /// Makes the outcome of a job whose child has ended before it has reported one.
    fileprivate init(_ result: ChildResult, of violation: String?) {
        if let violation {
            self = .failed("the command was stopped: \(violation)")
        } else if result.ending == .exited(0), !result.stopped {
            self = .failed(result.message("the child ended with status 0 before it had reported an outcome"))
        } else if result.ending == .exited(ChildCommand.retryStatus) {
            self = .failed(result.message("the child ended with status 75 before it had reported an outcome"))
        } else {
            self.init(result)
        }
    }
}
