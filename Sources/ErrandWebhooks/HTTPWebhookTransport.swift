import Errand
import ErrandHTTP
public import Foundation

/// Posts webhooks over HTTP/1.1. Redirects are not followed: their status is the answer.
///
/// A post ends with the head of its answer. Each has a connection of its own, which is closed then, and is never sent
/// twice: if the connection is lost, the post fails.
public struct HTTPWebhookTransport: WebhookTransport {
    /// Makes a transport.
    public init() {}

    /// Posts a body.
    ///
    /// - Parameters:
    ///   - body: the bytes to post.
    ///   - url: where to, an `http` or `https` address.
    ///   - headers: names and values, in this order. Those that say where the request ends and what becomes of its
    ///     connection are not allowed: `Connection`, `Content-Length`, `Expect`, `Host`, `Keep-Alive`, `Proxy-Connection`,
    ///     `TE`, `Trailer`, `Transfer-Encoding`, `Upgrade`.
    ///   - timeout: how long the answer may take, at least a millisecond.
    /// - Returns: the answer's status, and its `Retry-After` in seconds, if it has one.
    /// - Throws: `JobFailure` if there is no answer, which says why; it is final if what came back is not HTTP, for the
    ///   receiver may have done its work. ``WebhookError`` for an address or a header that cannot be sent,
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
            throw JobFailure("no \(failure.isFinal ? "usable " : "")answer: \(failure)", isFinal: failure.isFinal)
        case .cancelled: throw CancellationError()
        }
    }
}

/// The former name of ``HTTPWebhookTransport``.
@available(*, deprecated, renamed: "HTTPWebhookTransport")
public typealias URLSessionTransport = HTTPWebhookTransport
