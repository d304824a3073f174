import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis
import ErrandText

/// A search for schedules whose ticks are overdue.
struct LateSchedules {
    /// The delay up to which a tick may only be waiting for its turn, in milliseconds.
    private static let patience: Int64 = 300_000

    let broker: RedisBroker

    /// Returns one piece of advice for the most overdue schedule of a queue, or none.
    func advice(on queue: String, hasWorkers: Bool) async throws(BrokerError) -> [Advice] {
        let due: DueSchedules
        do throws(BrokerError) { due = try await broker.dueSchedules(on: queue, skipping: 0) } catch {
            // A key of the wrong type is already a finding.
            guard error.code == .refused else { throw error }
            return []
        }
        let late = due.schedules.filter { delay(of: $0, at: due.now) > Self.patience }
        guard let first = late.first else { return [] }
        let others = late.count > 1 ? " (\((late.count - 1).counted("other")) of the queue likewise)" : ""
        let message =
            "the schedule \(first.name) was to tick \(TimeSpanText.rounded(delay(of: first, at: due.now))) ago\(others): "
            + reason(first, hasWorkers: hasWorkers)
        return [Advice(kind: "schedule_late", queue: queue, message: message)]
    }

    /// Returns the time since a tick was due, in milliseconds. Corrupt numbers must not overflow.
    private func delay(of record: ScheduleRecord, at now: Int64) -> Int64 {
        let (delay, overflow) = now.subtractingReportingOverflow(record.nextTick ?? now)
        return overflow ? .max : delay
    }

    private func reason(_ record: ScheduleRecord, hasWorkers: Bool) -> String {
        if !hasWorkers { return "no worker serves the queue" }
        if let problem = record.problem { return problem.description }
        return "its workers cannot push it. The queue or the server's memory may be full, or its job too large; "
            + "errand-worker --verbose logs the reason"
    }
}
