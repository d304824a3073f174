import Backgroundable
import Logging

/// The first of a request's two jobs, in the worker: it pushes the second, and is done.
struct TaskLaunch: Sendable {
    let identifier: String
    let place: TaskPlace
    let allowances: TaskAllowances

    /// How soon it looks again while a task of the identifier runs, or while the broker is in trouble.
    static let pause = Duration.seconds(1)

    /// It is tried again for as long as it takes: a launch that is given up would be a lost request.
    var operation: RegisteredOperation {
        RegisteredOperation(
            TaskStage.launch.operation(of: identifier),
            defaults: OperationDefaults(timeout: .seconds(30), retries: Int(DescriptionLimits.retries.upperBound)),
            retryStrategy: RetryDelays(base: .seconds(1), cap: .seconds(300)),
            handler: .async { job in try await launch(job) }
        )
    }

    private func launch(_ job: JobContext) async throws -> HandlerOutcome {
        guard let requested = RequestedTask(job.arguments, identifier: identifier, notBefore: nil) else {
            return .failed("its arguments request no task", isFinal: true)
        }
        let run: JobEnvelope
        do throws(DescriptionError) {
            let allowance = allowances.allowance(of: requested.kind)
            run = try requested.run(ofLaunch: job.id, in: job.queue, allowance: allowance).makeEnvelope()
        } catch {
            return .failed("\(error)", isFinal: true)
        }
        do throws(BrokerError) {
            return try await push(run)
        } catch {
            job.logger.debug("task not launched yet", metadata: ["error": "\(error)"])
            return error.code == .refused ? .failed(error.message) : .snoozed(Self.pause)
        }
    }

    private func push(_ run: JobEnvelope) async throws(BrokerError) -> HandlerOutcome {
        // An earlier try of this launch may have pushed the run, and its worker died before it could say so. The broker
        // knows the ids of ended jobs for a short time only when they are pushed again, but keeps their history longer.
        if let known = try await place.broker.inspect([run.id], on: run.queue).first, known != nil {
            return .finished()
        }
        switch try await place.broker.push([run], to: run.queue).first?.outcome {
        case .accepted, .replaced, .deferred, .exists: return .finished()
        case .dropped, .unknown, nil: return .snoozed(Self.pause)
        }
    }
}
