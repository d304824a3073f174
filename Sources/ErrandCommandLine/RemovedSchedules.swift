package import Errand
import ErrandOperator
package import ErrandRedis

/// The schedules in the broker that came from a catalogue whose file no longer has them. They continue to tick, because
/// another worker may have a newer file. The worker reports them, and records them for the doctor.
package struct RemovedSchedules: Sendable {
    private let broker: RedisBroker
    private let file: String
    private let declared: Set<[String]>

    /// Makes a search with the catalogue's path and its schedules.
    package init(broker: RedisBroker, file: String, declared: [Schedule]) {
        self.broker = broker
        self.file = file
        self.declared = Set(declared.map { [$0.queue, $0.name] })
    }

    /// Searches all queues, and returns a message for each such schedule.
    package func find() async throws(BrokerError) -> [String] {
        var found: [String] = []
        for queue in try await broker.queues().sorted() {
            do throws(BrokerError) {
                let now = try await broker.now(on: queue)
                for case let schedule? in try await broker.schedules(on: queue).map(\.schedule) {
                    if let message = try await note(schedule, now) { found.append(message) }
                }
                try await withdraw(on: queue)
            } catch {
                guard error.isOfOnePlace else { throw error }
                found.append("the schedules of queue \"\(queue)\" cannot be read: \(error.message)")
            }
        }
        return found
    }

    /// Records whether the file has a schedule that came from it, or that a person has replaced.
    private func note(_ schedule: Schedule, _ now: Int64) async throws(BrokerError) -> String? {
        let isDeclared = declared.contains([schedule.queue, schedule.name])
        // A person may restore a deleted schedule, or write one that the file gets later. The doctor must know which
        // catalogue's schedule it replaces.
        if isDeclared, let edited = schedule.origin.edited, schedule.origin.catalogue == nil {
            try await broker.put(schedule.from(.person(edited: edited, catalogue: file)))
        }
        guard schedule.origin.catalogue == file else { return nil }
        if isDeclared {
            // The worker's own declaration does not change a schedule that a person has written.
            if schedule.origin.removed != nil { try await broker.put(schedule.removed(at: nil)) }
            return nil
        }
        if schedule.origin.removed == nil { try await broker.put(schedule.removed(at: now)) }
        return Self.message(schedule, file)
    }

    /// Returns the message about a schedule that its catalogue no longer has.
    package static func message(_ schedule: Schedule, _ file: String) -> String {
        let edit = schedule.origin.edited.map { " as a person has changed it at \(Timestamp.text($0))" } ?? ""
        let (name, queue) = (schedule.name, schedule.queue)
        return "schedule \"\(name)\" of queue \"\(queue)\" was removed from \(file), and still pushes jobs\(edit); "
            + "errand schedule delete \(name) --queue \(queue) deletes it"
    }

    /// Withdraws deleted schedules that the file no longer has either.
    private func withdraw(on queue: String) async throws(BrokerError) {
        for record in try await broker.declaredDeletedSchedules(on: queue)
        where record.rejectedDeclaration?.catalogue == file && !declared.contains([queue, record.name]) {
            try await broker.withdrawDeletedSchedule(record.name, on: queue)
        }
    }
}
