public import Errand

#if canImport(Testing)
    import Testing
#endif

/// Assertions about pushed jobs.
extension TestBroker {
    /// Returns the unfinished jobs of a type in the order in which they would run: ready ones first, then those that
    /// are due later.
    ///
    /// - Parameters:
    ///   - type: The type of the jobs.
    ///   - queue: The queue to look in; every queue if `nil`.
    /// - Throws: `DecodingError` if the arguments of a job do not fit the type.
    public func enqueued<Parameters: JobParameters>(
        _ type: Parameters.Type = Parameters.self,
        in queue: String? = nil
    ) async throws -> [Parameters] {
        try await enqueued(operation: Parameters.jobName, in: queue).map { try $0.arguments.decode(Parameters.self) }
    }

    /// Returns the descriptions of the unfinished jobs of an operation, in the order in which they would run.
    public func enqueued(operation: String, in queue: String? = nil) async throws -> [OperationDescription] {
        var found: [OperationDescription] = []
        let queues = if let queue { [queue] } else { try await memory.queues() }
        for queue in queues {
            for state in [JobState.ready, .scheduled, .retrying, .deferred, .blocked, .running] {
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

    /// Asserts that unfinished jobs of a type exist. In a test of Swift Testing, a failure is an issue at the caller's line,
    /// and the test goes on, as with `#expect`; elsewhere it is thrown.
    ///
    /// - Parameters:
    ///   - type: The type of the jobs.
    ///   - count: The exact number of jobs; at least one if `nil`.
    ///   - queue: The queue to look in; every queue if `nil`.
    ///   - predicate: A condition for the jobs to count; all by default.
    ///   - fileID, filePath, line, column: The caller's position.
    /// - Throws: ``EnqueueAssertionError``, which describes the jobs that exist, outside a test of Swift Testing.
    public func assertEnqueued<Parameters: JobParameters>(
        _ type: Parameters.Type = Parameters.self,
        count: Int? = nil,
        in queue: String? = nil,
        fileID: String = #fileID,
        filePath: String = #filePath,
        line: Int = #line,
        column: Int = #column,
        where predicate: (Parameters) throws -> Bool = { _ in true }
    ) async throws {
        let all = try await enqueued(type, in: queue)
        let matching = try all.filter(predicate).count
        if let count, matching == count { return }
        if count == nil, matching > 0 { return }
        let wanted = count.map { $0 == 1 ? "1 unfinished job" : "\($0) unfinished jobs" } ?? "an unfinished job"
        let place = queue.map { " in queue \($0)" } ?? ""
        let found =
            "expected \(wanted) \(Parameters.jobName)\(place), but \(matching) fit. The unfinished jobs are: \(all)"
        #if canImport(Testing)
            if Test.current != nil {
                let place = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
                Issue.record(EnqueueAssertionError(description: found), sourceLocation: place)
                return
            }
        #endif
        throw EnqueueAssertionError(description: "\(fileID):\(line): \(found)")
    }

    /// Asserts that no unfinished job of a type exists. The parameters are those of `assertEnqueued`.
    public func refuteEnqueued<Parameters: JobParameters>(
        _ type: Parameters.Type = Parameters.self,
        in queue: String? = nil,
        fileID: String = #fileID,
        filePath: String = #filePath,
        line: Int = #line,
        column: Int = #column,
        where predicate: (Parameters) throws -> Bool = { _ in true }
    ) async throws {
        try await assertEnqueued(
            type,
            count: 0,
            in: queue,
            fileID: fileID,
            filePath: filePath,
            line: line,
            column: column,
            where: predicate
        )
    }
}

/// The error of an assertion that does not hold.
public struct EnqueueAssertionError: Error, Sendable, CustomStringConvertible {
    /// The expectation and the actual jobs.
    public let description: String
}
