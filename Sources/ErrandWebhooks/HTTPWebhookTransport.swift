import Errand
import ErrandHTTP
public import Foundation

/// A transport that posts webhooks over HTTP/1.1. It does not follow redirects, and returns their status instead.
///
/// A post ends with the head of the response. Each uses its own connection, which is then closed, and is never
/// repeated: if the connection is lost, the post fails.
public struct HTTPWebhookTransport: WebhookTransport {
    /// Makes a transport.
    public init() {}

    /// Posts a body.
    ///
    /// - Parameters:
    ///   - body: The bytes to post.
    ///   - url: The receiver, an `http` or `https` URL.
    ///   - headers: Names and values, in this order. Fields that frame the request or control its connection are not
    ///     allowed: `Connection`, `Content-Length`, `Expect`, `Host`, `Keep-Alive`, `Proxy-Connection`, `TE`,
    ///     `Trailer`, `Transfer-Encoding`, `Upgrade`.
    ///   - timeout: The time limit for the response, at least a millisecond.
    /// - Returns: The status of the response, and its `Retry-After` in seconds, if it has one.
    /// - Throws: `JobFailure` with the reason if there is no response. It is final if the response is not HTTP, because
    ///   the receiver may have done its work. ``WebhookError`` for a URL or a header that cannot be sent;
    ///   `CancellationError` if the task is cancelled.
    public func post(
        _ body: Data,
        to url: URL,
        headers: [(name: String, value: String)],
        timeout: Duration
    ) async throws -> (status: Int, retryAfter: Int?) {
        if let problem = HTTPRequest.problem(of: url) { throw WebhookError("the address \(problem)") }
        var request = HTTPRequest(method: "POST", url: url, body: Array(body))
        request.timeout = timeout
        for (name, value) in headers {
            if let problem = HTTPFieldRule.problem(name: name, value: value) { throw WebhookError(problem) }
            request[field: name] = value
        }
        switch await HTTPSession.shared.send(request, until: .head) {
        case .answered(let head, _): return (head.status, head.retryAfter.flatMap { Int($0) })
        case .failed(let failure):
            throw JobFailure("no \(failure.isFinal ? "usable " : "")response: \(failure)", isFinal: failure.isFinal)
        case .cancelled: throw CancellationError()
        }
    }
}

/// The former name of ``HTTPWebhookTransport``.
@available(*, deprecated, renamed: "HTTPWebhookTransport")
public typealias URLSessionTransport = HTTPWebhookTransport
