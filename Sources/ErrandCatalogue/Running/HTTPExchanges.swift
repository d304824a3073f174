import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Tells the requests that are under way what happens to them.
final class HTTPExchanges: NSObject, URLSessionDataDelegate, Sendable {
    private let exchanges = Mutex<[Int: HTTPExchange]>([:])

    func begin(_ task: URLSessionTask) -> HTTPExchange {
        let exchange = HTTPExchange()
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
        return exchange
    }

    func forget(_ task: URLSessionTask) {
        exchanges.withLock { $0[task.taskIdentifier] = nil }
    }

    private func exchange(of task: URLSessionTask) -> HTTPExchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }

    // MARK: - What the session tells

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchange(of: task) else { return }
        if let error {
            exchange.end(.failed((error as? URLError)?.code ?? .unknown))
        } else if let response = task.response as? HTTPURLResponse {
            exchange.end(response)
        } else {
            exchange.end(.failed(.badServerResponse))
        }
    }

    /// No redirect is followed. Most of them turn the request into a `GET` without the arguments, whose answer would
    /// then count as the job's end, and another server should see neither the arguments nor the headers.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
