public import Foundation

/// Posts a request and answers the status of the answer: whatever HTTP client you have.
public protocol WebhookTransport: Sendable {
    /// Posts a body.
    ///
    /// - Returns: the status, and the seconds of a `Retry-After`, if there is one.
    /// - Throws: whatever went wrong on the way; the delivery is tried again later, unless it is a `JobFailure` that is final.
    func post(
        _ body: Data,
        to url: URL,
        headers: [(name: String, value: String)],
        timeout: Duration
    ) async throws -> (status: Int, retryAfter: Int?)
}
