import Errand
import ErrandOperator
import Hummingbird
import NIOCore
import ServiceLifecycle

/// A queue's events as server-sent events, as they come.
///
/// A browser cannot show thousands a second, and nobody can read them: what is too much is counted and left out.
struct EventFeed {
    private static let mostASecond = 50

    let broker: any Broker
    let queue: String?

    var response: Response {
        let events = broker.events(of: queue.map { [$0] })
        let body = ResponseBody { writer in
            var window = Window()
            // Something at once, so that the browser knows that it listens; and now and then, so that it is noticed when
            // nobody listens any more.
            try await writer.write(ByteBuffer(string: ": listening\n\n"))
            for try await message in Self.withPulse(events).cancelOnGracefulShutdown() {
                guard let message else {
                    try await writer.write(ByteBuffer(string: ": still here\n\n"))
                    continue
                }
                let lines = message.lines.filter { JobEvent(line: $0) != nil }
                let admitted = window.admit(lines)
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

    /// The messages, and `nil` every few seconds.
    private static func withPulse(
        _ events: AsyncThrowingStream<QueueEvents, any Error>
    ) -> AsyncThrowingStream<QueueEvents?, any Error> {
        AsyncThrowingStream { continuation in
            let pulse = Task {
                while !Task.isCancelled {
                    try await Task.sleep(for: .seconds(5))
                    continuation.yield(nil)
                }
            }
            let messages = Task {
                do {
                    for try await message in events { continuation.yield(message) }
                    continuation.finish()
                } catch { continuation.finish(throwing: error) }
            }
            continuation.onTermination = { _ in
                pulse.cancel()
                messages.cancel()
            }
        }
    }

    /// How many events went through within this second.
    private struct Window {
        private var began = ContinuousClock.now
        private var count = 0
        private(set) var missed = 0

        mutating func admit(_ lines: [[UInt8]]) -> [[UInt8]] {
            if .now - began >= .seconds(1) { (began, count) = (.now, 0) }
            let room = max(0, EventFeed.mostASecond - count)
            count += min(room, lines.count)
            missed += max(0, lines.count - room)
            return Array(lines.prefix(room))
        }

        mutating func takeMissed() -> Int {
            defer { missed = 0 }
            return missed
        }
    }
}
