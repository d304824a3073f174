/// What a job had become when the waiting for its end was over.
public struct JobEnding: Sendable, Equatable {
    /// Its state; `nil` when the broker does not know the job, or cannot be asked.
    public var state: JobState?
    /// Whether the time was over before the job had ended.
    public var isOutOfTime: Bool
    /// What it gave, if it finished: empty when it gave nothing.
    public var result: [UInt8]?
    /// Why it did not finish.
    public var error: String?

    /// Makes an ending.
    public init(state: JobState? = nil, isOutOfTime: Bool = false, result: [UInt8]? = nil, error: String? = nil) {
        self.state = state
        self.isOutOfTime = isOutOfTime
        self.result = result
        self.error = error
    }

    /// What a record says of the end of its job.
    package init(_ record: JobRecord) {
        self.init(
            state: record.state,
            result: record.state == .finished ? record.result : nil,
            error: record.state == .finished ? nil : record.lastError
        )
    }
}

/// Waits for a job's end. Events say when to look; what counts is what the broker says when it is asked.
struct JobWatch {
    let broker: any WatchingBroker
    let id: String
    let queue: String

    /// Waits until the job has ended, or the time is over.
    ///
    /// - Parameter limit: how long to wait; for as long as it takes when `nil`.
    func ending(within limit: Duration?) async throws -> JobEnding {
        let (answers, answer) = AsyncStream.makeStream(of: Result<JobEnding, any Error>.self)
        let looking = Task {
            do { answer.yield(.success(try await lookUntilEnded())) } catch { answer.yield(.failure(error)) }
        }
        let waiting = Task {
            guard let limit else { return }
            try await Task.sleep(for: limit)
            // One last look, if the broker answers soon; the wait is over either way.
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

    /// Looks after every event that names the job, after every subscription, and now and then, since events may be
    /// lost.
    private func lookUntilEnded() async throws -> JobEnding {
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
                let ending = try await self.look()
                if ending.state?.hasEnded ?? true { return ending }
            } catch {
                // While the broker is away, the job may still come to its end.
                if ![.notReachable, .outcomeUnknown].contains(error.code) { throw error }
            }
        }
        throw CancellationError()
    }

    private func look() async throws(BrokerError) -> JobEnding {
        guard let record = try await broker.inspect([id], on: queue).first ?? nil else { return JobEnding() }
        return JobEnding(record)
    }
}

extension JobEnding {
    /// The same, seen when the time was over: what has not ended by now is not waited for.
    fileprivate var outOfTime: JobEnding {
        var ending = self
        ending.isOutOfTime = state.map { !$0.hasEnded } ?? false
        return ending
    }
}
