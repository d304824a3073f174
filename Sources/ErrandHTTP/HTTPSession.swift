package import Foundation

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// Sends requests with Foundation's `URLSession`, each until its answer, its failure or its task's cancellation.
///
/// No redirect is followed: most of them turn the request into a `GET` without its body, whose answer would then count,
/// and another server should see neither the body nor the headers.
package final class HTTPSession: Sendable {
    private let session: URLSession
    private let exchanges: HTTPExchanges

    /// Makes a session with connections of its own. Requests say themselves how long a silence they bear.
    ///
    /// - Parameter end: what the end of an answer is.
    package init(until end: HTTPAnswerEnd) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = .unlimited
        configuration.timeoutIntervalForResource = .unlimited
        // How many run at once is for the worker to decide; a request that waits here would use up its job's time.
        configuration.httpMaximumConnectionsPerHost = 10_000
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        exchanges = HTTPExchanges(until: end)
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Sends a request; cancelling the task cancels it.
    package func send(_ request: URLRequest) async -> HTTPAnswer {
        let task = session.dataTask(with: request)
        let exchange = exchanges.begin(task)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                exchange.wait(continuation)
                task.resume()
            }
        } onCancel: {
            // Not here: the session waits in `cancel` for its queue, the queue may be about to resume whoever waits for
            // the answer, and that one is locked while this handler runs.
            DispatchQueue.global().async {
                exchange.end(.cancelled)
                if exchange.mayCancel() { task.cancel() }
            }
        }
    }
}

extension TimeInterval {
    /// For what somebody else ends: ten years.
    package static let unlimited: TimeInterval = 10 * 365 * 86_400
}
