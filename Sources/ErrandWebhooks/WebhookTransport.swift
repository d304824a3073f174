public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Posts a request and answers the status of the answer: whatever HTTP client you have.
public protocol WebhookTransport: Sendable {
    /// Posts a body.
    ///
    /// - Returns: the status, and the seconds of a `Retry-After`, if there is one.
    /// - Throws: whatever went wrong on the way; the delivery is tried again later.
    func post(
        _ body: Data,
        to url: URL,
        headers: [(name: String, value: String)],
        timeout: Duration
    ) async throws -> (status: Int, retryAfter: Int?)
}

/// Posts with Foundation's `URLSession`. Redirects are not followed: a receiver that has moved is to be told so.
public struct URLSessionTransport: WebhookTransport {
    private let session: URLSession

    /// Makes a transport with connections of its own.
    public init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        session = URLSession(configuration: configuration, delegate: RedirectRefusal(), delegateQueue: nil)
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
        let (_, response) = try await session.data(for: request)
        guard let answer = response as? HTTPURLResponse else { return (0, nil) }
        return (answer.statusCode, answer.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) })
    }
}

private final class RedirectRefusal: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) { completionHandler(nil) }
}
