import Errand
import ErrandOperator
import Hummingbird
import NIOCore
import ServiceLifecycle
import Synchronization

/// Events of one queue or of all as server-sent events, as they are published.
///
/// A browser cannot show thousands of events a second, and no one can read them. Events above the limit are counted and
/// left out.
struct EventFeed {
    private static let mostASecond = 50
    /// The largest number of messages to buffer for a browser that does not read.
    private static let mostWaiting = 256

    let broker: any Broker
    let queue: String?
    /// The listener's slot, kept while the browser listens.
    let place: Listeners.Place

    var response: Response {
        let events = broker.events(of: queue.map { [$0] })
        let body = ResponseBody { [place] writer in
            defer { withExtendedLifetime(place) {} }
            var window = Window()
            let unread = Unread()
            // The first comment shows the browser that it is connected. Later ones detect closed connections.
            try await writer.write(ByteBuffer(string: ": listening\n\n"))
            for try await message in Self.withPulse(events, unread).cancelOnGracefulShutdown() {
                guard let message else {
                    try await writer.write(ByteBuffer(string: ": still here\n\n"))
                    continue
                }
                let lines = message.lines.filter { JobEvent(line: $0) != nil }
                let admitted = window.admit(lines, unread: unread.take())
                var text = ""
                if window.missed > 0, admitted.isEmpty == false {
                    text += "event: missed\ndata: \(window.takeMissed())\n\n"
                }
                for line in admitted { text += "data: \(String(decoding: line, as: UTF8.self))\n\n" }
                if !text.isEmpty { try await writer.write(ByteBuffer(string: text)) }
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store"],
            body: body
        )
    }

    /// Returns the messages, and `nil` every few seconds.
    private static func withPulse(
        _ events: AsyncThrowingStream<QueueEvents, any Error>,
        _ unread: Unread
    ) -> AsyncThrowingStream<QueueEvents?, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(mostWaiting)) { continuation in
            let pulse = Task {
                while !Task.isCancelled {
                    try await Task.sleep(for: .seconds(5))
                    continuation.yield(nil)
                }
            }
            let messages = Task {
                do {
                    for try await message in events {
                        if case .dropped(let message?) = continuation.yield(message) { unread.add(message.lines.count) }
                    }
                    continuation.finish()
                } catch { continuation.finish(throwing: error) }
            }
            continuation.onTermination = { _ in
                pulse.cancel()
                messages.cancel()
            }
        }
    }

    /// The number of events left out because the browser does not read.
    private final class Unread: Sendable {
        private let count = Mutex(0)

        func add(_ events: Int) { count.withLock { $0 += events } }

        func take() -> Int {
            count.withLock { count in
                defer { count = 0 }
                return count
            }
        }
    }

    /// The number of events sent within the current second.
    private struct Window {
        private var began = ContinuousClock.now
        private var count = 0
        private(set) var missed = 0

        mutating func admit(_ lines: [[UInt8]], unread: Int) -> [[UInt8]] {
            if .now - began >= .seconds(1) { (began, count) = (.now, 0) }
            let room = max(0, EventFeed.mostASecond - count)
            count += min(room, lines.count)
            missed += max(0, lines.count - room) + unread
            return Array(lines.prefix(room))
        }

        mutating func takeMissed() -> Int {
            defer { missed = 0 }
            return missed
        }
    }
}
