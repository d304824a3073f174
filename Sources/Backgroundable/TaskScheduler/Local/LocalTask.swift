import Foundation

/// The pending request and the current run of one identifier of a local scheduler.
///
/// A request waits for its handler, for its date, for the end of the current run, and then for its turn in the queue.
/// It can be replaced until the queue starts its operation.
final class LocalTask: Sendable {
    private let identifier: String
    private let setting: LocalTaskSetting
    private let state = Locked(LocalTaskState())

    init(_ identifier: String, _ setting: LocalTaskSetting) {
        self.identifier = identifier
        self.setting = setting
    }

    /// The pending request.
    var pending: RequestedTask? {
        state.withLock { $0.requested }
    }

    /// Replaces the pending request, or removes it if `requested` is nil.
    func request(_ requested: RequestedTask?) {
        let (deadline, operation) = state.withLock { $0.put(requested) }
        deadline?.cancel()
        operation?.cancel()
        review()
    }

    /// Takes the next possible step for the pending request.
    func review() {
        guard setting.registry.registration(of: identifier) != nil else { return }
        let now = setting.clock()
        switch state.withLock({ $0.nextStep(now, setting.longestWait) }) {
        case .nothing: break
        case .look(let span, let number): lookAgain(after: span, number)
        case .enqueue(let number): enqueue(number)
        }
    }

    // MARK: Waiting

    private func lookAgain(after span: TimeInterval, _ number: Int) {
        let deadline = DeadlineTimer.shared.schedule(after: .seconds(span)) { [self] in
            // `review` may call a queue's delegate, which may block, so it leaves the timer's thread.
            DispatchQueue.global().async { self.review() }
        }
        let unused = state.withLock { state -> Deadline? in
            guard state.number == number, state.requested != nil else { return deadline }
            defer { state.deadline = deadline }
            return state.deadline
        }
        unused?.cancel()
    }

    private func enqueue(_ number: Int) {
        let allowance = setting.registry.allowances
        let operation = AsyncOperation(
            name: nil,
            timeout: pending.flatMap { allowance.allowance(of: $0.kind) }.map { $0 / .seconds(1) } ?? 0,
            onEnd: { [self] _, ending in operationEnded(ending, number) },
            { [self] operation in launch(number, operation) }
        )
        let isCurrent = state.withLock { state in
            guard state.number == number else { return false }
            state.operation = operation
            return true
        }
        if isCurrent { setting.queue.addOperation(operation) }
    }

    // MARK: Running

    private func launch(_ number: Int, _ operation: AsyncOperation) {
        guard let registration = setting.registry.registration(of: identifier),
            let run = state.withLock({ $0.begin(number) { makeRun($0, operation) } })
        else { return operation.finish() }
        run.begin(registration)
    }

    private func makeRun(_ requested: RequestedTask, _ operation: AsyncOperation) -> TaskRun {
        TaskRun(
            requested,
            allowance: setting.registry.allowances.allowance(of: requested.kind),
            backgroundTasks: setting.backgroundTasks
        ) { [self] success in
            _ = state.withLock { $0.run.take() }
            operation.finish()
            // The next request may run now. This may be the timer's thread, which must not block.
            DispatchQueue.global().async { [self] in
                setting.registry.noteCompletion(of: identifier, success: success)
                review()
            }
        }
    }

    /// Called when the queue's operation has ended: because the task ended, because of its timeout, or by a
    /// cancellation.
    private func operationEnded(_ ending: AsyncOperationEnding, _ number: Int) {
        guard ending != .finished else { return }
        let run = state.withLock { state in
            if state.run == nil { state.forget(number) }
            return state.run
        }
        if ending == .timedOut { run?.giveUp() } else { run?.stop() }
    }
}
