package import Errand
package import ErrandRedis

/// The schedules in the broker that came from a catalogue whose file no longer has them. They tick on, because the worker
/// cannot know whether another one has a newer file; so it says what it found, and notes it for the doctor.
package struct RemovedSchedules: Sendable {
    private let broker: RedisBroker
    private let file: String
    private let declared: Set<[String]>

    /// Takes the catalogue's path and its schedules.
    package init(broker: RedisBroker, file: String, declared: [Schedule]) {
        self.broker = broker
        self.file = file
        self.declared = Set(declared.map { [$0.queue, $0.name] })
    }

    /// Looks for them in all queues; what is said of each.
    package func find() async throws(BrokerError) -> [String] {
        var found: [String] = []
        let now = try await broker.now()
        for queue in try await broker.queues().sorted() {
            for record in try await broker.schedules(on: queue) where !declared.contains([queue, record.name]) {
                guard let schedule = record.schedule, case .catalogue(file, let removed) = schedule.origin else {
                    continue
                }
                found.append(Self.message(schedule.name, queue, file))
                if removed == nil { try await broker.put(schedule.from(.catalogue(file: file, removed: now))) }
            }
            try await withdraw(on: queue)
        }
        return found
    }

    /// What is said of a schedule that its catalogue no longer has.
    package static func message(_ name: String, _ queue: String, _ file: String) -> String {
        "schedule \"\(name)\" of queue \"\(queue)\" was removed from \(file), and ticks on; "
            + "errand schedule delete \(name) --queue \(queue) deletes it"
    }

    /// A deleted schedule that the file has no longer either is nothing to talk about.
    private func withdraw(on queue: String) async throws(BrokerError) {
        for record in try await broker.declaredDeletedSchedules(on: queue)
        where record.deletionMet?.catalogue == file && !declared.contains([queue, record.name]) {
            try await broker.withdrawDeletedSchedule(record.name, on: queue)
        }
    }
}
