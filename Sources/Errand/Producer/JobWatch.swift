/// How a job ended, or its state when the wait was over.
public struct JobEnding: Sendable, Equatable {
    /// The job's state; `nil` if the broker does not have the job, or could not be reached.
    public var state: JobState?
    /// Whether the time ran out before the job had ended.
    public var isOutOfTime: Bool
    /// The result if the job finished: empty if its handler returned none.
    public var result: [UInt8]?
    /// Why the job did not finish.
    public var error: String?

    /// Makes an ending.
    public init(state: JobState? = nil, isOutOfTime: Bool = false, result: [UInt8]? = nil, error: String? = nil) {
        self.state = state
        self.isOutOfTime = isOutOfTime
        self.result = result
        self.error = error
    }

    /// Makes an ending from a job's record.
    package init(_ record: JobRecord) {
        self.init(
            state: record.state,
            result: record.state == .finished ? record.result : nil,
            error: record.state == .finished ? nil : record.lastError
        )
    }
}

/// Watches a job until its end. Events only trigger a look; the broker's record decides.
struct JobWatch {
    let broker: any WatchingBroker
    let id: String
    let queue: String

    /// Waits until the job has ended, or the time is over.
    ///
    /// - Parameter limit: how long to wait; without a limit if `nil`.
    func ending(within limit: Duration?) async throws -> JobEnding {
        try await TimedLook(
            untilEnded: {
                var last: JobRecord?
                try await follow { last = $0 }
                return last.map(JobEnding.init) ?? JobEnding()
            },
            once: { try await look().outOfTime },
            instead: JobEnding(isOutOfTime: true)
        ).result(within: limit)
    }

    /// Inspects the job until it has ended, or the broker does not have it.
    func follow(_ tell: (JobRecord?) -> Void) async throws {
        try await EventWatch(broker: broker, id: id, queue: queue).follow { () async throws(BrokerError) in
            let record = try await record()
            tell(record)
            return record?.state.hasEnded ?? true
        }
    }

    private func look() async throws(BrokerError) -> JobEnding { try await record().map(JobEnding.init) ?? JobEnding() }

    private func record() async throws(BrokerError) -> JobRecord? {
        try await broker.inspect([id], on: queue).first ?? nil
    }
}

extension JobEnding {
    /// The same ending at the end of the time: a job that has not ended by now is out of time.
    fileprivate var outOfTime: JobEnding {
        var ending = self
        ending.isOutOfTime = state.map { !$0.hasEnded } ?? false
        return ending
    }
}
