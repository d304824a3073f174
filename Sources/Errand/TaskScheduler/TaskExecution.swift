import Backgroundable
import Dispatch

/// The second of a request's two jobs, in the worker: it calls the handler and waits for the end of the task.
struct TaskExecution: Sendable {
    let identifier: String
    let registry: TaskRegistry

    var operation: RegisteredOperation {
        RegisteredOperation(
            TaskStage.run.operation(of: identifier),
            defaults: OperationDefaults(retries: 0),
            handler: .async { await execute($0) }
        )
    }

    private func execute(_ job: JobContext) async -> HandlerOutcome {
        guard let requested = RequestedTask(job.arguments, identifier: identifier, notBefore: nil) else {
            return .failed("its arguments are not those of a task request, which only submit(_:) makes", isFinal: true)
        }
        guard let registration = registry.registration(of: identifier) else {
            return .failed("no handler is registered for \"\(identifier)\"", isFinal: true)
        }
        // The launch has set the job's timeout; this worker may have other allowances.
        let success = await run(requested, registration, allowance: job.deadline - .now)
        registry.noteCompletion(of: identifier, success: success)
        guard success else { return .failed("the task was completed without success", isFinal: true) }
        // A job with a result stays in the history for longer, so that a late repetition of the launch finds it.
        return .finished(result: Array("success".utf8))
    }

    /// Runs the task. Cancellation asks it to stop, and leaves it a little time for that.
    private func run(
        _ requested: RequestedTask,
        _ registration: TaskRegistration,
        allowance: Duration
    ) async -> Bool {
        let stopper = TaskStopper()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // The process need not be kept alive: a worker that stops waits for its runs and releases them.
                let run = TaskRun(requested, allowance: allowance) { continuation.resume(returning: $0) }
                stopper.take(run)
                run.begin(registration, on: .global())
            }
        } onCancel: {
            stopper.stop()
        }
    }
}

/// Stops a run that may not exist yet.
private final class TaskStopper: Sendable {
    private let state = Locked<(run: TaskRun?, isStopped: Bool)>((nil, false))

    func take(_ run: TaskRun) {
        let isStopped = state.withLock { state in
            state.run = run
            return state.isStopped
        }
        if isStopped { run.stop() }
    }

    func stop() {
        let run = state.withLock { state in
            state.isStopped = true
            return state.run
        }
        run?.stop()
    }
}
