import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Calls the web addresses of `http` operations.
final class HTTPCaller: Sendable {
    static let shared = HTTPCaller()

    /// No limit of the session's own: a request ends at the latest when its job's deadline cancels it.
    private static let noLimit: TimeInterval = 10 * 365 * 86_400

    private let session: URLSession
    private let exchanges = HTTPExchanges()

    init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = Self.noLimit
        configuration.timeoutIntervalForResource = Self.noLimit
        // How many run at once is for the worker to decide; a request that waits here would use up its job's time.
        configuration.httpMaximumConnectionsPerHost = 10_000
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    /// Sends a job's arguments to a web address; cancelling the task cancels the request.
    func call(_ request: CatalogueRequest, job: CatalogueJob) async -> CatalogueOutcome {
        let task = session.dataTask(with: HTTPRequest.make(request, job: job, timeout: Self.noLimit))
        let exchange = exchanges.begin(task)
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                exchange.wait(continuation)
                task.resume()
            }
        } onCancel: {
            // Not here: the session waits in `cancel` for its queue, the queue may be about to resume whoever waits for
            // the answer, and that one is locked while this handler runs.
            DispatchQueue.global().async {
                exchange.end(.cancelled)
                task.cancel()
            }
        }
        exchanges.forget(task)
        return CatalogueOutcome(answer, to: request)
    }
}
