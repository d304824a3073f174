/// Looks at something until it has ended: at once, after every event that names it, after every subscription, and
/// periodically, since events may be lost.
struct EventWatch {
    let broker: any WatchingBroker
    /// The id that events have as a JSON string.
    let id: String
    let queue: String
    /// The longest pause between two looks.
    var longestPause = Duration.seconds(5)

    /// Calls `look` until it returns `true`.
    ///
    /// - Throws: the errors of `look`, except those of a broker that does not reply: what is watched may still end.
    func follow(_ look: () async throws(BrokerError) -> Bool) async throws {
        let (looks, next) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let events = broker.events(of: [queue]) { next.yield() }
        let mark = Array("\"\(id)\"".utf8)
        let listening = Task {
            for try await message in events where message.lines.contains(where: { $0.firstRange(of: mark) != nil }) {
                next.yield()
            }
        }
        let ticking = Task { [longestPause] in
            var pause = min(Duration.seconds(1), longestPause)
            while !Task.isCancelled {
                try await Task.sleep(for: pause)
                next.yield()
                pause = min(pause + .seconds(1), longestPause)
            }
        }
        defer {
            listening.cancel()
            ticking.cancel()
        }
        next.yield()
        for await _ in looks {
            do throws(BrokerError) { if try await look() { return } } catch {
                if !error.isPassing { throw error }
            }
        }
        throw CancellationError()
    }
}

/// A wait with a limit, after which one last look is made.
struct TimedLook<Value: Sendable>: Sendable {
    /// Waits until what is watched has ended.
    let untilEnded: @Sendable () async throws -> Value
    /// Looks once, when the time is over.
    let once: @Sendable () async throws -> Value
    /// The value if that look takes more than two seconds.
    let instead: Value

    /// Returns the value at the end, or when the time is over.
    ///
    /// - Parameter limit: how long to wait; without a limit if `nil`.
    func result(within limit: Duration?) async throws -> Value {
        let (answers, answer) = AsyncStream.makeStream(of: Result<Value, any Error>.self)
        let looking = Task {
            do { answer.yield(.success(try await untilEnded())) } catch { answer.yield(.failure(error)) }
        }
        let waiting = Task {
            guard let limit else { return }
            try await Task.sleep(for: limit)
            // Looks once more, if the broker replies soon; the wait is over in any case.
            let lastLook = Task { if let last = try? await once() { answer.yield(.success(last)) } }
            try await Task.sleep(for: .seconds(2))
            lastLook.cancel()
            answer.yield(.success(instead))
        }
        defer {
            looking.cancel()
            waiting.cancel()
        }
        for await result in answers { return try result.get() }
        throw CancellationError()
    }
}
