import ErrandHTTP
public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Posts with Foundation's `URLSession`. Redirects are not followed: a receiver that has moved is to be told so.
///
/// A post ends when the head of the answer is there. Of the body no more is read than keeps the connection usable; of a
/// redirect's body Foundation reads all there is, until the delivery's time is over.
public struct URLSessionTransport: WebhookTransport {
    private let session = HTTPSession(until: .head)

    /// Makes a transport with connections of its own: make one and keep it.
    public init() {}

    /// Posts a body.
    ///
    /// - Parameters:
    ///   - body: the bytes to post.
    ///   - url: where to.
    ///   - headers: names and values, in this order.
    ///   - timeout: how long a silence it bears, at least a second.
    /// - Returns: the answer's status, and its `Retry-After` in seconds, if it has one.
    /// - Throws: `URLError` when there is no answer, `CancellationError` when the task is cancelled.
    public func post(
        _ body: Data,
        to url: URL,
        headers: [(name: String, value: String)],
        timeout: Duration
    ) async throws -> (status: Int, retryAfter: Int?) {
        var request = URLRequest(url: url)
        // As a property: on Linux the initializer's interval does not count.
        request.timeoutInterval = max(1, TimeInterval(timeout.components.seconds))
        request.httpMethod = "POST"
        request.httpBody = body
        for header in headers { request.setValue(header.value, forHTTPHeaderField: header.name) }
        switch await session.send(request) {
        case .answered(let response, _):
            return (response.statusCode, response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) })
        case .failed(let code): throw URLError(code)
        case .cancelled: throw CancellationError()
        }
    }
}
