public import Errand

/// Looking at what was pushed.
extension TestBroker {
    /// The unfinished jobs of a type, in the order in which they would run: those that are ready, then those that are due
    /// later.
    ///
    /// - Parameters:
    ///   - type: the jobs' type.
    ///   - queue: only those of this queue; of every queue when left out.
    /// - Throws: `DecodingError` when the arguments of one do not fit the type.
    public func enqueued<Parameters: JobParameters>(
        _ type: Parameters.Type = Parameters.self,
        in queue: String? = nil
    ) async throws -> [Parameters] {
        try await enqueued(operation: Parameters.jobName, in: queue).map { try $0.arguments.decode(Parameters.self) }
    }

    /// The descriptions of the unfinished jobs of an operation, in the order in which they would run.
    public func enqueued(operation: String, in queue: String? = nil) async throws -> [OperationDescription] {
        var found: [OperationDescription] = []
        let queues = if let queue { [queue] } else { try await memory.queues() }
        for queue in queues {
            for state in [JobState.ready, .scheduled, .retrying, .deferred, .running] {
                var cursor: Int? = 0
                while let from = cursor {
                    let page = try await memory.jobs(in: state, on: queue, from: from, count: 500)
                    found += try page.jobs.map { try JobEnvelope.read(stored: $0.body).description }
                    cursor = page.next
                }
            }
        }
        return found.filter { $0.operation == operation }
    }

    /// Says that unfinished jobs of a type are there.
    ///
    /// - Parameters:
    ///   - type: the jobs' type.
    ///   - count: how many there must be; at least one when left out.
    ///   - queue: only those of this queue count; of every queue when left out.
    ///   - isMeant: which of them count; all when left out.
    /// - Throws: ``NotAsAsserted``, which fails the test and says what is there.
    public func assertEnqueued<Parameters: JobParameters>(
        _ type: Parameters.Type = Parameters.self,
        count: Int? = nil,
        in queue: String? = nil,
        where isMeant: (Parameters) throws -> Bool = { _ in true }
    ) async throws {
        let all = try await enqueued(type, in: queue)
        let meant = try all.filter(isMeant).count
        if let count, meant == count { return }
        if count == nil, meant > 0 { return }
        let wanted = count.map { $0 == 1 ? "1 unfinished job" : "\($0) unfinished jobs" } ?? "an unfinished job"
        let place = queue.map { " in queue \($0)" } ?? ""
        throw NotAsAsserted(
            description: "expected \(wanted) \(Parameters.jobName)\(place), found \(meant) that fit. There are: \(all)"
        )
    }

    /// Says that no unfinished job of a type is there.
    public func refuteEnqueued<Parameters: JobParameters>(
        _ type: Parameters.Type = Parameters.self,
        in queue: String? = nil,
        where isMeant: (Parameters) throws -> Bool = { _ in true }
    ) async throws { try await assertEnqueued(type, count: 0, in: queue, where: isMeant) }
}

/// Something is not as a test has asserted.
public struct NotAsAsserted: Error, Sendable, CustomStringConvertible {
    /// What was expected and what is there.
    public let description: String
}
