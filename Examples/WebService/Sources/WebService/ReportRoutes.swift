import Errand
import ErrandHummingbird
import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle

/// The routes: start a report, look at it, follow it, wait for it, cancel it.
///
/// Errors of Errand pass through: `ErrandHummingbird` answers 503 while the broker is away, and 504, 502 or 409 for a report
/// that is not there.
struct ReportRoutes: Sendable {
    private static let longestWait = 60

    let reports: Reports

    func add(to router: some RouterMethods<UserContext>) {
        router.post("/reports") { request, context in try await start(request, context) }
        router.get("/reports/:id") { _, context in try await status(try receipt(context)) }
        router.get("/reports/:id/events") { _, context in events(try receipt(context)) }
        router.get("/reports/:id/result") { request, context in try await result(request, try receipt(context)) }
        router.delete("/reports/:id") { _, context in
            try await reports.cancel(try receipt(context))
            return HTTPResponse.Status.accepted
        }
    }

    private func receipt(_ context: UserContext) throws -> Receipt {
        let id = try context.parameters.require("id")
        guard let receipt = reports.receipt(id, of: context.user) else { throw HTTPError(.notFound) }
        return receipt
    }

    /// 202 with the place of the report. If the reply of the broker was lost, the client may ask again: its job is dropped if
    /// the first one is there.
    private func start(_ request: Request, _ context: UserContext) async throws -> Response {
        let wish = try await request.decode(as: Wish.self, context: context)
        let receipt = try await reports.start(wish.month, for: context.user)
        guard receipt.outcome != .unknown else { throw HTTPError(.serviceUnavailable) }
        return Response(status: .accepted, headers: [.location: "/reports/\(receipt.id)"])
    }

    private func status(_ receipt: Receipt) async throws -> Progress {
        guard let job = try await reports.status(of: receipt) else { throw HTTPError(.notFound) }
        return Progress(job)
    }

    /// `?wait=10` waits for so many seconds.
    private func result(_ request: Request, _ receipt: Receipt) async throws -> Report {
        let wait = request.uri.queryParameters.get("wait", as: Int.self) ?? 0
        guard (0...Self.longestWait).contains(wait) else {
            throw HTTPError(.badRequest, message: "wait must be 0 to \(Self.longestWait)")
        }
        return try await reports.result(of: receipt, within: .seconds(wait))
    }

    /// Server-sent events until the report is there, or the server shuts down.
    private func events(_ receipt: Receipt) -> Response {
        let body = ResponseBody { writer in
            for try await job in reports.updates(of: receipt).cancelOnGracefulShutdown() {
                let data = try JSONEncoder().encode(Progress(job))
                try await writer.write(ByteBuffer(string: "data: \(String(decoding: data, as: UTF8.self))\n\n"))
            }
            try await writer.finish(nil)
        }
        let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
        return Response(status: .ok, headers: headers, body: body)
    }

    private struct Wish: Decodable {
        let month: String
    }

    private struct Progress: ResponseEncodable {
        let state: String
        let fraction: Double?
        let message: String?

        init(_ job: JobRecord) {
            state = job.state.rawValue
            (fraction, message) = (job.progress?.fraction, job.progress?.message)
        }
    }
}

extension Report: ResponseEncodable {}
