package import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// What came back from a web server.
package enum HTTPAnswer: Sendable {
    /// An answer, with the beginning of its body where that was waited for.
    case answered(HTTPURLResponse, body: [UInt8])
    case failed(URLError.Code)
    case cancelled
}

/// What the end of an answer is.
package enum HTTPAnswerEnd: Sendable {
    /// Its head. Of the body no more than 64 KiB is read, so that the connection may be used again.
    case head
    /// The end of its body, of which the first bytes are kept, so many at the most.
    case body(kept: Int)
}

/// One request and the task that waits for its answer.
final class HTTPExchange: Sendable {
    private struct State {
        var answer: HTTPAnswer?
        var continuation: CheckedContinuation<HTTPAnswer, Never>?
        var body: [UInt8] = []
        var unreadLimit = 64 * 1024
        var isCancelled = false
        var isRedirecting = false
    }

    private let state = Mutex(State())
    private let ending: HTTPAnswerEnd

    init(until ending: HTTPAnswerEnd) { self.ending = ending }

    /// Resumes the continuation with the answer, which may be there already.
    func wait(_ continuation: CheckedContinuation<HTTPAnswer, Never>) {
        let answer = state.withLock { state in
            if state.answer == nil { state.continuation = continuation }
            return state.answer
        }
        if let answer { continuation.resume(returning: answer) }
    }

    /// The head of the answer is there.
    func receive(_ response: URLResponse) {
        if case .head = ending { end(response) }
    }

    /// Takes a piece of the body. Answers whether more is of use.
    func receive(_ data: Data) -> Bool {
        state.withLock { state in
            switch ending {
            case .head:
                state.unreadLimit -= data.count
                return state.unreadLimit >= 0
            case .body(let kept):
                state.body += data.prefix(max(kept - state.body.count, 0))
                return true
            }
        }
    }

    /// Ends the exchange with a server's answer.
    func end(_ response: URLResponse?) {
        guard let response = response as? HTTPURLResponse else { return end(.failed(.badServerResponse)) }
        end(.answered(response, body: state.withLock(\.body)))
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

    // MARK: Cancelling and redirecting

    // Foundation on Linux ends the process when a request is cancelled between a redirect and the answer to the question
    // whether to follow it. So whichever comes second is not done: a redirect that is not followed ends the request, too.

    /// Whether the request can be cancelled; it may not be redirected any more.
    func mayCancel() -> Bool {
        state.withLock { state in
            state.isCancelled = true
            return !state.isRedirecting
        }
    }

    /// Whether the question for a redirect can be answered; the request may not be cancelled any more.
    func mayRedirect() -> Bool {
        state.withLock { state in
            state.isRedirecting = true
            return !state.isCancelled
        }
    }
}
