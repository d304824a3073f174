import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One post and the task that waits for the head of its answer.
final class WebhookPost: Sendable {
    typealias Answer = (status: Int, retryAfter: Int?)

    private struct State {
        var result: Result<Answer, any Error>?
        var continuation: CheckedContinuation<Answer, any Error>?
        var unreadLimit = 64 * 1024
    }

    private let state = Mutex(State())

    /// Resumes the continuation with the answer, which may be there already.
    func wait(_ continuation: CheckedContinuation<Answer, any Error>) {
        let result = state.withLock { state in
            if state.result == nil { state.continuation = continuation }
            return state.result
        }
        if let result { continuation.resume(with: result) }
    }

    /// Ends the post; only the first end counts.
    func end(_ result: Result<Answer, any Error>) {
        let continuation = state.withLock { state in
            guard state.result == nil else { return nil as CheckedContinuation<Answer, any Error>? }
            state.result = result
            return state.continuation.take()
        }
        continuation?.resume(with: result)
    }

    /// Ends the post with a receiver's answer.
    func end(_ response: URLResponse?) {
        guard let answer = response as? HTTPURLResponse else { return end(.failure(URLError(.badServerResponse))) }
        let retryAfter = answer.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) }
        end(.success((answer.statusCode, retryAfter)))
    }

    /// Lets a piece of the body go by, and says whether that was more than is worth a connection.
    func isTooMuch(_ data: Data) -> Bool {
        state.withLock { state in
            state.unreadLimit -= data.count
            return state.unreadLimit < 0
        }
    }
}

/// Tells the posts that are under way what happens to them.
final class WebhookPosts: NSObject, URLSessionDataDelegate, Sendable {
    private let posts = Mutex<[Int: WebhookPost]>([:])

    func begin(_ task: URLSessionTask) -> WebhookPost {
        let post = WebhookPost()
        posts.withLock { $0[task.taskIdentifier] = post }
        return post
    }

    private func post(of task: URLSessionTask) -> WebhookPost? {
        posts.withLock { $0[task.taskIdentifier] }
    }

    // MARK: - What the session tells

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        post(of: dataTask)?.end(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard post(of: dataTask)?.isTooMuch(data) ?? true else { return }
        dataTask.cancel()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let post = posts.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        if let error { post?.end(.failure(error)) } else { post?.end(task.response) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) { completionHandler(nil) }
}
