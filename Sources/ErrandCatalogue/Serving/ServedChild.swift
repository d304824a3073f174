import Errand
import Foundation
import Synchronization

/// A child of a `serve` operation: it gets one job at a time, and reports on it.
///
/// Whatever it does otherwise, such as writing something else, ending, or not stopping, costs the job that it has, and no
/// other one: the child is stopped, and another one takes the next job.
final class ServedChild: Sendable {
    /// What there is to do for the run of its job.
    fileprivate enum Step {
        case store(JobReports)
        /// The outcome, and the result of a child that has not reported one.
        case end(HandlerOutcome, ChildResult?)
    }

    fileprivate struct State {
        var process: LivingChild?
        var pid: pid_t?
        var lines = ServedLines()
        /// The job that it has, until it has reported the outcome.
        var job: (id: String, token: Token)?
        var outcome: (HandlerOutcome, ChildResult?)?
        var reports = JobReports()
        var waiter: CheckedContinuation<Step, Never>?
        /// What it has written that it must not.
        var violation: String?
        var isStarted = false
        /// Whether the run of its job was cancelled.
        var isCancelled = false
        var isStopped = false
        var result: ChildResult?
        var jobsDone = 0
    }

    private let command: ServedCommand
    private let state = Mutex(State())

    init(_ command: ServedCommand) { self.command = command }

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
    var isUsable: Bool { state.withLock { $0.result == nil && !$0.isStopped && $0.job == nil } }

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

    /// Lets the child run a job.
    ///
    /// If the task is cancelled, the child is stopped.
    ///
    /// - Parameters:
    ///   - store: Stores what the child has reported meanwhile; of several reports only the last one.
    ///   - ended: Called with the child's result if it has ended before it had reported an outcome.
    /// - Returns: The outcome, after the child has reported it or has ended; `nil` if the child has done jobs before, and
    ///   had ended before it got this one.
    func run(
        _ job: ServedJob,
        store: (JobReports) async -> Void,
        ended: (ChildResult) async -> Void
    ) async -> HandlerOutcome? {
        guard !Task.isCancelled else { return .failed("stopped before its child had it") }
        let (process, earlier) = state.withLock { state in
            if state.result == nil { state.job = (job.facts.id, job.facts.token) }
            return (state.process, state.result)
        }
        if let earlier {
            if hasWorked { return nil }
            await ended(earlier)
            return HandlerOutcome(earlier, of: state.withLock { $0.violation })
        }
        process?.write(job.line)
        return await withTaskCancellationHandler {
            while true {
                switch await next() {
                case .store(let reports): await store(reports)
                case .end(let outcome, let result):
                    if let result { await ended(result) }
                    return outcome
                }
            }
        } onCancel: {
            state.withLock { $0.isCancelled = true }
            stop()
        }
    }

    private func next() async -> Step {
        await withCheckedContinuation { continuation in
            let step = state.withLock { state -> Step? in
                let step = state.takeStep()
                if step == nil { state.waiter = continuation }
                return step
            }
            if let step { continuation.resume(returning: step) }
        }
    }

    /// Lets a child without a job end. One that does not is stopped.
    func finish() {
        let process = state.withLock { state in
            state.isStopped = true
            return state.process
        }
        process?.finish()
    }

    /// Stops the child, whatever it does.
    func stop() {
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
        for line in lines where state.withLock({ $0.violation == nil }) { take(line) }
        if !isShort { violate("a line has more than \(ServedLines.mostBytes) bytes") }
    }

    private func take(_ line: [UInt8]) {
        let report: ServedReport
        do throws(ServedReport.Problem) { report = try ServedReport(line: line) } catch {
            return violate("a line is no report: \(error.reason)")
        }
        let isHeld = change { state in
            guard let job = state.job, job == (report.id, report.token), state.violation == nil else { return false }
            switch report.content {
            case .outcome(let outcome):
                (state.job, state.outcome, state.jobsDone) = (nil, (outcome, nil), state.jobsDone + 1)
            case .progress(let fraction, let message): state.reports.progress = (fraction, message)
            case .checkpoint(let value): state.reports.checkpoint = value
            }
            return true
        }
        if !isHeld { violate("it reported on \(report.id.prefix(64)), which it does not have with this token") }
    }

    private func violate(_ what: String) {
        state.withLock { $0.violation = $0.violation ?? what }
        stop()
    }

    private func ended(_ result: ChildResult) {
        _ = change { state in
            state.result = result
            guard state.job != nil else { return true }
            (state.job, state.outcome) = (nil, (HandlerOutcome(result, of: state.violation), result))
            return true
        }
    }

    /// Changes the state, and resumes the run if there is something for it.
    private func change(_ body: (inout State) -> Bool) -> Bool {
        let (result, waiter, step) = state.withLock { state in
            let result = body(&state)
            guard let waiter = state.waiter, let step = state.takeStep() else {
                return (result, CheckedContinuation<Step, Never>?.none, Step?.none)
            }
            state.waiter = nil
            return (result, waiter, step)
        }
        if let step { waiter?.resume(returning: step) }
        return result
    }
}

extension ServedChild.State {
    /// Removes the next step: what is to be stored comes before the end.
    fileprivate mutating func takeStep() -> ServedChild.Step? {
        if !reports.isEmpty {
            defer { reports = JobReports() }
            return .store(reports)
        }
        defer { outcome = nil }
        return outcome.map { .end($0, $1) }
    }
}

extension HandlerOutcome {
    /// Makes the outcome of a job whose child has ended before it has reported one.
    fileprivate init(_ result: ChildResult, of violation: String?) {
        if let violation {
            self = .failed("the child was stopped: \(violation)")
        } else if result.ending == .exited(0), !result.stopped {
            self = .failed(result.message("the child ended with status 0 before it had reported an outcome"))
        } else if result.ending == .exited(ChildCommand.retryStatus) {
            self = .failed(result.message("the child ended with status 75 before it had reported an outcome"))
        } else {
            self.init(result)
        }
    }
}
