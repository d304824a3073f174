import ErrandHTTP
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Calls the web addresses of `http` operations. A request ends at the latest when its job's deadline cancels it.
final class HTTPCaller: Sendable {
    static let shared = HTTPCaller()

    private let session = HTTPSession(until: .body(kept: 64 * 1024))

    /// Sends a job's arguments to a web address; cancelling the task cancels the request.
    func call(_ request: CatalogueRequest, job: CatalogueJob) async -> CatalogueOutcome {
        let answer = await session.send(HTTPRequest.make(request, job: job, timeout: .unlimited))
        return CatalogueOutcome(answer, to: request)
    }
}
