import Backgroundable
import Foundation
import Synchronization

/// A session that sends requests with libcurl. A request ends with its response, a failure or its task's cancellation.
///
/// One thread, started by the first request, serves all requests of the process. Only the kept part of a body is
/// buffered. Redirects are not followed: most of them turn the request into a `GET` without its body, whose response
/// would then count, and another server must not see the body or the headers.
package final class HTTPSession: Sendable {
    /// The only session of the process.
    package static let shared = HTTPSession()

    private struct Mail {
        var begun: [HTTPTransfer] = []
        var cancelled: [HTTPTransfer] = []
    }

    private let mail = Mutex(Mail())
    private let multi: HTTPMultiHandle?

    private init() {
        multi = HTTPMultiHandle()
        guard multi != nil else { return }
        DedicatedThread.start("errand-http") { self.run() }
    }

    /// Sends a request. Cancelling the task ends it immediately.
    package func send(_ request: HTTPRequest, until ending: HTTPAnswerEnd) async -> HTTPAnswer {
        guard let multi else { return .failed(HTTPFailure("libcurl does not start")) }
        let transfer = HTTPTransfer(request, until: ending)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transfer.wait(continuation)
                mail.withLock { $0.begun.append(transfer) }
                multi.wake()
            }
        } onCancel: {
            transfer.end(.cancelled)
            mail.withLock { $0.cancelled.append(transfer) }
            multi.wake()
        }
    }

    // MARK: The thread

    private func run() {
        guard let multi else { return }
        blockSignals()
        var transfers = HTTPTransfers(multi)
        while true {
            let mail = mail.withLock { mail in
                defer { mail = Mail() }
                return mail
            }
            for transfer in mail.begun { transfers.begin(transfer) }
            for transfer in mail.cancelled { transfers.abandon(transfer) }
            transfers.advance()
            multi.waitForWork()
        }
    }

    /// Blocks all signals: other threads handle them, and a server that closes a connection must not end the process by
    /// SIGPIPE.
    private func blockSignals() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
