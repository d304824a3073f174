import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// A search for jobs that wait for an event that may never occur.
struct QueueAdvice {
    let broker: RedisBroker

    /// Returns the advice for these queues.
    func advice(on queues: [String]) async throws(BrokerError) -> [Advice] {
        var advice: [Advice] = []
        let (read, unreadable) = try await queues.readingEach { [broker] queue throws(BrokerError) in
            try await broker.status(of: queue)
        }
        // A key of the wrong type is already a finding.
        if let forbidden = unreadable.first(where: { $0.error.code == .notPermitted }) { throw forbidden.error }
        for (queue, (status, sessions)) in read {
            let hasWorkers = sessions.contains { !$0.isLost }
            advice += unknownOperations(status) + idleness(status, hasWorkers: hasWorkers) + dead(status)
            advice += try await LateSchedules(broker: broker).advice(on: queue, hasWorkers: hasWorkers)
            advice += try await ScheduleOrigins(broker: broker).advice(on: queue)
        }
        return advice
    }

    private func unknownOperations(_ status: QueueStatus) -> [Advice] {
        status.unknownOperations.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { operation, count in
            let message = "no worker knows the operation \(operation): \(count.counted("waiting job"))"
            return Advice(kind: "unknown_operation", queue: status.name, message: message)
        }
    }

    private func idleness(_ status: QueueStatus, hasWorkers: Bool) -> [Advice] {
        let waiting = status.ready + status.scheduled + status.retrying
        guard waiting > 0 else { return [] }
        if !hasWorkers {
            return [
                Advice(
                    kind: "no_worker",
                    queue: status.name,
                    message: "no worker serves the queue: \(waiting.counted("waiting job"))"
                )
            ]
        }
        guard status.isPaused else { return [] }
        let message =
            "the queue is paused: \(waiting.counted("waiting job")); errand queue resume \(status.name) starts them"
        return [Advice(kind: "paused", queue: status.name, message: message)]
    }

    private func dead(_ status: QueueStatus) -> [Advice] {
        guard status.dead > 0 else { return [] }
        let message =
            "\(status.dead.counted("dead job")); errand jobs --state dead --queue \(status.name) lists them"
        return [Advice(kind: "dead_jobs", queue: status.name, message: message)]
    }
}
