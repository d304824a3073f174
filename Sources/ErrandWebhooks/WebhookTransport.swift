public import Foundation

/// A client that posts webhooks; implement it to use an HTTP client of your own.
public protocol WebhookTransport: Sendable {
    /// Posts a body.
    ///
    /// - Returns: The status of the response, and its `Retry-After` in seconds, if it has one.
    /// - Throws: Any error of the request. The delivery is retried, unless the error is a final `JobFailure`.
    func post(
        _ body: Data,
        to url: URL,
        headers: [(name: String, value: String)],
        timeout: Duration
    ) async throws -> (status: Int, retryAfter: Int?)
}
