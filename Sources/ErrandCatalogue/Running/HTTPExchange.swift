import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What came back from a web server.
enum HTTPAnswer: Sendable {
    case answered(status: Int, retryAfter: Duration?, body: [UInt8])
    case failed(URLError.Code)
    case cancelled
}

/// One request and the task that waits for its answer.
final class HTTPExchange: Sendable {
    private struct State {
        var answer: HTTPAnswer?
        var body: [UInt8] = []
        var continuation: CheckedContinuation<HTTPAnswer, Never>?
    }

    private static let bodyLimit = 64 * 1024
    private let state = Mutex(State())

    /// Resumes the continuation with the answer, which may be there already.
    func wait(_ continuation: CheckedContinuation<HTTPAnswer, Never>) {
        let answer = state.withLock { state in
            if state.answer == nil { state.continuation = continuation }
            return state.answer
        }
        if let answer { continuation.resume(returning: answer) }
    }

    /// Keeps the beginning of the answer's body.
    func receive(_ data: Data) {
        state.withLock { $0.body += data.prefix(max(Self.bodyLimit - $0.body.count, 0)) }
    }

    /// Ends the exchange with a server's answer.
    func end(_ response: HTTPURLResponse) {
        let retryAfter = RetryAfter.duration(
            response.value(forHTTPHeaderField: "Retry-After"),
            date: response.value(forHTTPHeaderField: "Date")
        )
        let body = state.withLock(\.body)
        end(.answered(status: response.statusCode, retryAfter: retryAfter, body: body))
    }

    /// Ends the exchange; only the first end counts.
    func end(_ answer: HTTPAnswer) {
        let continuation = state.withLock { state in
            guard state.answer == nil else { return nil as CheckedContinuation<HTTPAnswer, Never>? }
            state.answer = answer
            return state.continuation.take()
        }
        continuation?.resume(returning: answer)
    }
}
