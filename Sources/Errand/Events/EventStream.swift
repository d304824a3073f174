extension StreamingBroker {
    /// Reads a queue's events from the durable stream. Missing events are reported as gaps, as long as Redis keeps its
    /// data. (After a failover that lost the newest writes, numbers may be used again.)
    ///
    /// Events on channels reach only current subscribers; the stream keeps a number of the last events, and a reader
    /// continues where it stopped. A queue writes it if its settings say so: `errand queue set QUEUE events 100000`, or
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
    /// The sequence waits for further events and ends only if its task is cancelled. While the broker is unreachable,
    /// it tries again every second.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - cursor: The last event that was read; ``EventCursor/oldest`` for all kept events, `nil` for events from now
    ///     on.
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

    /// Makes an iterator that reads from the start.
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

        /// Returns the next event or gap; `nil` if the task was cancelled.
        ///
        /// - Throws: ``BrokerError`` if the queue keeps no events, or reading is not permitted.
        public mutating func next() async throws -> StreamedEvent? {
            while waiting.isEmpty {
                if Task.isCancelled { return nil }
                // An empty page is read again only after a signal that came later than the call.
                guard try await !fill() else { continue }
                guard await signals.next(isolation: #isolation) != nil else { return nil }
            }
            return waiting.removeLast()
        }

        /// Returns the remaining events of a page, at least one; `nil` if the task was cancelled.
        package mutating func nextPage() async throws -> [StreamedEvent]? {
            guard let first = try await next() else { return nil }
            defer { waiting = [] }
            return [first] + waiting.reversed()
        }

        /// Reads a page. Returns whether to continue without waiting for a signal.
        private mutating func fill() async throws -> Bool {
            let page: EventPage
            do throws(BrokerError) {
                page = try await stream.broker.eventPage(
                    of: stream.queue,
                    after: reading?.cursor ?? stream.start ?? .oldest
                )
            } catch {
                guard error.isPassing || Task.isCancelled else { throw error }
                // The sleep ends early if the task is cancelled, and the sequence then ends.
                try? await Task.sleep(for: .seconds(1))
                return true
            }
            if page.kept == 0, page.entries.isEmpty {
                throw BrokerError(
                    .refused,
                    "queue \"\(stream.queue)\" keeps no events, or does not exist; let it keep the latest ones with: errand "
                        + "queue set \(stream.queue) events 100000"
                )
            }
            if reading == nil, stream.start == nil {
                reading = EventPageReading(after: page.last ?? .oldest)
                return false
            }
            var reading = reading ?? EventPageReading(after: stream.start ?? .oldest)
            // The last element is removed first.
            waiting = reading.take(page).reversed()
            self.reading = reading
            return !page.entries.isEmpty || !waiting.isEmpty
        }
    }
}

/// An iterator belongs to one task.
@available(*, unavailable)
extension EventStream.Iterator: Sendable {}

/// Signals that events were published, or that a disconnected channel is connected again.
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
                    // The next read of a page reports the error.
                }
                try? await Task.sleep(for: Self.longestSilence)
            }
        }
        // Events on channels may be lost, so the stream is also read periodically.
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
