import Backgroundable
import Foundation
import Synchronization

/// Sends requests with libcurl, each until its answer, its failure or its task's cancellation.
///
/// One thread does the work of all requests of the process. It starts with the first one, and nothing is buffered beyond
/// the part of a body that is kept. No redirect is followed: most of them turn the request into a `GET` without its body,
/// whose answer would then count, and another server should see neither the body nor the headers.
package final class HTTPSession: Sendable {
    /// The process's only session.
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

    /// Sends a request; cancelling the task ends it at once.
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

    /// Signals are for other threads; and a server that closes its end must not end the process by SIGPIPE.
    private func blockSignals() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
