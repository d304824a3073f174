import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// A search for schedules that differ from their catalogue: removed from it, changed by hand, or deleted.
struct ScheduleOrigins {
    /// The largest number of schedules to report of each kind.
    private static let most = 10

    let broker: RedisBroker

    /// Returns the advice for a queue.
    func advice(on queue: String) async throws(BrokerError) -> [Advice] {
        do throws(BrokerError) {
            let schedules = try await broker.schedules(on: queue).compactMap(\.schedule)
            let deleted = try await broker.declaredDeletedSchedules(on: queue)
            return
                (schedules.compactMap(removed).prefix(Self.most) + schedules.compactMap(edited).prefix(Self.most)
                + deleted.compactMap(self.deleted).prefix(Self.most)).map { kind, message in
                    Advice(kind: kind, queue: queue, message: message)
                }
        } catch {
            // A key of the wrong type is already a finding.
            guard error.code == .refused else { throw error }
            return []
        }
    }

    private func removed(_ schedule: Schedule) -> (kind: String, message: String)? {
        guard schedule.origin.removed != nil, let file = schedule.origin.catalogue else { return nil }
        return ("schedule_removed", RemovedSchedules.message(schedule, file))
    }

    private func edited(_ schedule: Schedule) -> (kind: String, message: String)? {
        guard let time = schedule.origin.edited, let file = schedule.origin.catalogue, schedule.origin.removed == nil
        else { return nil }
        return (
            "schedule_edited",
            "the schedule \(schedule.name) was changed by a person at \(Timestamp.text(time)), and workers of \(file) keep that; "
                + "write the change there, or raise its revision there above \(schedule.revision) to undo it"
        )
    }

    private func deleted(_ record: ScheduleRecord) -> (kind: String, message: String)? {
        guard let met = record.rejectedDeclaration, let revision = record.deletedRevision else { return nil }
        let place = met.catalogue ?? "its program"
        return (
            "schedule_deleted",
            "the schedule \(record.name) was deleted by a person, and \(place) still had it at \(Timestamp.text(met.at)): it is left "
                + "out; remove it there, or raise its revision above \(revision) to bring it back"
        )
    }
}
