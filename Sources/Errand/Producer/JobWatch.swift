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
        let (answers, answer) = AsyncStream.makeStream(of: Result<JobEnding, any Error>.self)
        let looking = Task {
            do { answer.yield(.success(try await lookUntilEnded())) } catch { answer.yield(.failure(error)) }
        }
        let waiting = Task {
            guard let limit else { return }
            try await Task.sleep(for: limit)
            // Looks once more, if the broker replies soon; the wait is over in any case.
            let lastLook = Task { if let last = try? await look() { answer.yield(.success(last.outOfTime)) } }
            try await Task.sleep(for: .seconds(2))
            lastLook.cancel()
            answer.yield(.success(JobEnding(isOutOfTime: true)))
        }
        defer {
            looking.cancel()
            waiting.cancel()
        }
        for await result in answers { return try result.get() }
        throw CancellationError()
    }

    private func lookUntilEnded() async throws -> JobEnding {
        var last: JobRecord?
        try await follow { last = $0 }
        return last.map(JobEnding.init) ?? JobEnding()
    }

    /// Inspects the job at once, after every event that names it, after every subscription, and periodically, since events
    /// may be lost. Returns once it has ended, or the broker does not have it.
    func follow(_ tell: (JobRecord?) -> Void) async throws {
        let (looks, look) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let events = broker.events(of: [queue]) { look.yield() }
        let mark = Array("\"\(id)\"".utf8)
        let listening = Task {
            for try await message in events where message.lines.contains(where: { $0.firstRange(of: mark) != nil }) {
                look.yield()
            }
        }
        let ticking = Task {
            var pause = Duration.seconds(1)
            while !Task.isCancelled {
                try await Task.sleep(for: pause)
                look.yield()
                pause = min(pause + .seconds(1), .seconds(5))
            }
        }
        defer {
            listening.cancel()
            ticking.cancel()
        }
        look.yield()
        for await _ in looks {
            do throws(BrokerError) {
                let record = try await record()
                tell(record)
                if record?.state.hasEnded ?? true { return }
            } catch {
                // While the broker is unreachable, the job may still end.
                if ![.notReachable, .outcomeUnknown].contains(error.code) { throw error }
            }
        }
        throw CancellationError()
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
