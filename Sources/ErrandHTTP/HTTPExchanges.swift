import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Tells the requests that are under way what happens to them.
final class HTTPExchanges: NSObject, URLSessionDataDelegate, Sendable {
    private let exchanges = Mutex<[Int: HTTPExchange]>([:])
    private let ending: HTTPAnswerEnd

    init(until ending: HTTPAnswerEnd) { self.ending = ending }

    func begin(_ task: URLSessionTask) -> HTTPExchange {
        let exchange = HTTPExchange(until: ending)
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
        return exchange
    }

    private func exchange(of task: URLSessionTask) -> HTTPExchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }

    // MARK: - What the session tells

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let exchange = exchange(of: dataTask), !exchange.receive(data) else { return }
        if exchange.mayCancel() { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        guard let error else { exchange?.end(task.response); return }
        exchange?.end(.failed((error as? URLError)?.code ?? .unknown))
    }

    /// An answer that asks for a password is an answer: nobody is there to give one. Without this, Foundation on Linux
    /// waits for a credential, and the request never ends.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let response = challenge.failureResponse else { return completionHandler(.performDefaultHandling, nil) }
        exchange(of: task)?.end(response)
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        if exchange(of: task)?.mayRedirect() ?? true { completionHandler(nil) }
    }
}
