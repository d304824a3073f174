import Errand
import ErrandRedis
import Foundation
import Hummingbird
import NIOCore
import Photos
import ServiceLifecycle

/// Tells a page how far a job is, as server-sent events, until it has ended.
///
/// Events may be lost, so each event and each new subscription makes it read the job itself.
struct JobFeed {
    private let broker: RedisBroker

    init(broker: RedisBroker) { self.broker = broker }

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/jobs/:job/events") { _, context in try response(try context.parameters.require("job")) }
    }

    private func response(_ job: String) throws -> Response {
        guard !job.isEmpty, job.utf8.count <= 64 else { throw HTTPError(.notFound) }
        let body = ResponseBody { writer in
            let (looks, continuation) = AsyncStream<JobEvent?>.makeStream()
            let listening = Task {
                for try await message in broker.events(
                    of: [ResizePhoto.queue],
                    onSubscribed: { continuation.yield(nil) }
                ) {
                    for event in message.events where event.id == job { continuation.yield(event) }
                }
                continuation.finish()
            }
            // Now and then without an event, so that a page that was closed is noticed.
            let looking = Task {
                while !Task.isCancelled {
                    try await Task.sleep(for: .seconds(10))
                    continuation.yield(nil)
                }
            }
            defer {
                listening.cancel()
                looking.cancel()
            }
            for await event in looks.cancelOnGracefulShutdown() {
                let snapshot = try await snapshot(of: job, event)
                try await writer.write(ByteBuffer(string: "data: \(try snapshot.json)\n\n"))
                if snapshot.hasEnded { break }
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: body
        )
    }

    private func snapshot(of job: String, _ event: JobEvent?) async throws -> Snapshot {
        let record = try await broker.inspect([job], on: ResizePhoto.queue).first ?? nil
        return Snapshot(
            state: record?.state.rawValue ?? "unknown",
            hasEnded: record?.state.hasEnded ?? true,
            event: event?.event,
            fraction: record?.progress?.fraction,
            message: record?.progress?.message,
            worker: event?.worker ?? record?.session,
            error: record?.lastError
        )
    }
}

/// The updates for the page.
private struct Snapshot: Encodable {
    let state: String
    let hasEnded: Bool
    let event: String?
    let fraction: Double?
    let message: String?
    let worker: String?
    let error: String?

    var json: String { get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) } }
}
