extension StreamingBroker {
    /// A queue's events from the durable stream: none is missed without being told so, as long as Redis keeps its data. (After a
    /// failover that lost the newest writes, numbers may be given out again.)
    ///
    /// Channels forget what nobody listens to; the stream keeps the last so many events, and a reader goes on where it stopped.
    /// It is written where the queue's settings ask for it: `errand queue set QUEUE events 100000`, or
    /// ``QueueSettings/keptEvents``.
    ///
    /// ```swift
    /// for try await next in broker.eventStream(of: "mail", after: try await load()) {
    ///     switch next {
    ///     case .event(let kept): try await record(kept.event)
    ///     case .gap(let gap): report("\(gap.lost.map(String.init) ?? "some") events were missed")
    ///     }
    ///     try await save(next.cursor)
    /// }
    /// ```
    ///
    /// It waits for what comes next and ends only when its task is cancelled. While the broker cannot be reached it tries again every
    /// second.
    ///
    /// - Parameters:
    ///   - queue: Whose events.
    ///   - cursor: The event that was read last; ``EventCursor/oldest`` for everything that is kept, `nil` for what happens from
    ///     now on.
    public func eventStream(of queue: String, after cursor: EventCursor?) -> EventStream {
        EventStream(broker: self, queue: queue, start: cursor)
    }
}

/// The durable stream of a queue's events, as a sequence; see ``StreamingBroker/eventStream(of:after:)``.
public struct EventStream: AsyncSequence, Sendable {
    /// An event, or a gap.
    public typealias Element = StreamedEvent

    let broker: any StreamingBroker
    let queue: String
    let start: EventCursor?

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Reads the stream page by page.
    public struct Iterator: AsyncIteratorProtocol {
        private let stream: EventStream
        private var reading: EventPageReading?
        private var waiting: [StreamedEvent] = []
        private let arrivals: EventArrivals
        private var signals: AsyncStream<Void>.Iterator

        init(_ stream: EventStream) {
            self.stream = stream
            arrivals = EventArrivals(stream.broker, stream.queue)
            signals = arrivals.signals.makeAsyncIterator()
        }

        /// The next event or gap; `nil` when the task was cancelled.
        ///
        /// - Throws: ``BrokerError`` when the queue keeps no events, or reading is not permitted.
        public mutating func next() async throws -> StreamedEvent? {
            while waiting.isEmpty {
                if Task.isCancelled { return nil }
                // Asked for again only after a signal that came later than the question.
                guard try await !fill() else { continue }
                guard await signals.next(isolation: #isolation) != nil else { return nil }
            }
            return waiting.removeLast()
        }

        /// All that a page has, at least one; `nil` when the task was cancelled.
        package mutating func nextPage() async throws -> [StreamedEvent]? {
            guard let first = try await next() else { return nil }
            defer { waiting = [] }
            return [first] + waiting.reversed()
        }

        /// Reads a page; answers whether anything was in it.
        private mutating func fill() async throws -> Bool {
            let page: EventPage
            do throws(BrokerError) {
                page = try await stream.broker.eventPage(
                    of: stream.queue,
                    after: reading?.cursor ?? stream.start ?? .oldest
                )
            } catch {
                guard error.isPassing || Task.isCancelled else { throw error }
                // Cut short when the task is cancelled, and then the sequence ends.
                try? await Task.sleep(for: .seconds(1))
                return true
            }
            if page.kept == 0, page.entries.isEmpty {
                throw BrokerError(
                    .refused,
                    "queue \"\(stream.queue)\" keeps no events: errand queue set \(stream.queue) events 100000"
                )
            }
            if reading == nil, stream.start == nil {
                reading = EventPageReading(after: page.last ?? .oldest)
                return false
            }
            var reading = reading ?? EventPageReading(after: stream.start ?? .oldest)
            // The last one is taken out first.
            waiting = reading.take(page).reversed()
            self.reading = reading
            return !page.entries.isEmpty || !waiting.isEmpty
        }
    }
}

/// An iterator belongs to the task that reads.
@available(*, unavailable)
extension EventStream.Iterator: Sendable {}

/// Signals that something was published, or that the channel was cut off and is there again.
private final class EventArrivals: Sendable {
    let signals: AsyncStream<Void>
    private let tasks: [Task<Void, Never>]

    private static let longestSilence = Duration.seconds(5)

    init(_ broker: any StreamingBroker, _ queue: String) {
        let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.signals = signals
        let hearing = Task {
            while !Task.isCancelled {
                do {
                    for try await _ in broker.events(of: [queue], onSubscribed: { continuation.yield() }) {
                        continuation.yield()
                    }
                } catch {
                    // What is wrong shows when the page is read next.
                }
                try? await Task.sleep(for: Self.longestSilence)
            }
        }
        // Channels are hints: where none is heard, whatever the reason, the stream is looked at now and then.
        let looking = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.longestSilence)
                continuation.yield()
            }
        }
        tasks = [hearing, looking]
    }

    deinit { for task in tasks { task.cancel() } }
}
