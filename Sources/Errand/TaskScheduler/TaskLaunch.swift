import Backgroundable
import Logging

/// The first of a request's two jobs, in the worker: it pushes the second and finishes.
struct TaskLaunch: Sendable {
    let identifier: String
    let place: TaskPlace
    let allowances: TaskAllowances

    /// The pause before the next attempt while a task of the identifier runs, or while the broker is unreachable.
    static let pause = Duration.seconds(1)

    /// The operation of the launch. It has the maximum number of retries, because a dead launch would be a lost
    /// request.
    var operation: RegisteredOperation {
        RegisteredOperation(
            TaskStage.launch.operation(of: identifier),
            defaults: OperationDefaults(timeout: .seconds(30), retries: Int(DescriptionLimits.retries.upperBound)),
            retryStrategy: RetryDelays(base: .seconds(1), longest: .seconds(300)),
            handler: .async { job in try await launch(job) }
        )
    }

    private func launch(_ job: JobContext) async throws -> HandlerOutcome {
        guard let requested = RequestedTask(job.arguments, identifier: identifier, notBefore: nil) else {
            return .failed("its arguments are not those of a task request, which only submit(_:) makes", isFinal: true)
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
        // A worker may have pushed the run and died before it reported the launch. A push recognizes the ids of ended
        // jobs only for a short time, but the broker keeps their history longer.
        if let known = try await place.broker.inspect([run.id], on: run.queue).first, known != nil {
            return .finished()
        }
        switch try await place.broker.push([run], to: run.queue).first?.outcome {
        case .accepted, .replaced, .deferred, .exists: return .finished()
        case .dropped, .unknown, nil: return .snoozed(Self.pause)
        }
    }
}
