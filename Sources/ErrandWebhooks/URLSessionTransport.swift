public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Posts with Foundation's `URLSession`. Redirects are not followed: a receiver that has moved is to be told so.
///
/// A post ends when the head of the answer is there. Of the body no more is read than keeps the connection usable.
public struct URLSessionTransport: WebhookTransport {
    /// The longest that reading an answer may take, in seconds. Nobody waits for it but the connection.
    private static let longestAnswer: TimeInterval = 4000

    private let session: URLSession
    private let posts = WebhookPosts()

    /// Makes a transport with connections of its own.
    public init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForResource = Self.longestAnswer
        // How many run at once is for the worker to decide; a post that waits here would use up its job's time.
        configuration.httpMaximumConnectionsPerHost = 10_000
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        session = URLSession(configuration: configuration, delegate: posts, delegateQueue: nil)
    }

    /// Posts a body.
    public func post(
        _ body: Data,
        to url: URL,
        headers: [(name: String, value: String)],
        timeout: Duration
    ) async throws -> (status: Int, retryAfter: Int?) {
        var request = URLRequest(url: url, timeoutInterval: max(1, TimeInterval(timeout.components.seconds)))
        request.httpMethod = "POST"
        request.httpBody = body
        for header in headers { request.setValue(header.value, forHTTPHeaderField: header.name) }
        let task = session.dataTask(with: request)
        let post = posts.begin(task)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                post.wait(continuation)
                task.resume()
            }
        } onCancel: {
            // Not here: the session waits in `cancel` for its queue, the queue may be about to resume whoever waits for
            // the answer, and that one is locked while this handler runs.
            DispatchQueue.global().async {
                post.end(.failure(CancellationError()))
                task.cancel()
            }
        }
    }
}
