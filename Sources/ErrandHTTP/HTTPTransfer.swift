import CErrandCurl
import Foundation
import Synchronization

/// One request on its way, and the task that waits for its answer.
///
/// Only the session's thread touches what is not behind the mutex, libcurl's callbacks included.
final class HTTPTransfer: @unchecked Sendable {
    private struct Waiting {
        var answer: HTTPAnswer?
        var continuation: CheckedContinuation<HTTPAnswer, Never>?
    }

    /// What of a body is read at the most.
    private static let readLimit = 1024 * 1024

    private let request: HTTPRequest
    private let ending: HTTPAnswerEnd
    private let waiting = Mutex(Waiting())

    private var easy: HTTPEasyHandle?
    private var sent = 0
    private var reader = HTTPHeadReader()
    private var length: HTTPBodyLength?
    private var received = 0
    private var body: [UInt8] = []
    /// What is wrong with the answer.
    private var failure: HTTPFailure?

    init(_ request: HTTPRequest, until ending: HTTPAnswerEnd) {
        self.request = request
        self.ending = ending
    }

    // MARK: The task's side

    /// Resumes the continuation with the answer, which may be there already.
    func wait(_ continuation: CheckedContinuation<HTTPAnswer, Never>) {
        let answer = waiting.withLock { waiting in
            if waiting.answer == nil { waiting.continuation = continuation }
            return waiting.answer
        }
        if let answer { continuation.resume(returning: answer) }
    }

    /// Whether nobody waits for it any more.
    var hasEnded: Bool { waiting.withLock { $0.answer != nil } }

    /// Ends the wait; only the first answer counts.
    func end(_ answer: HTTPAnswer) {
        let continuation = waiting.withLock { waiting in
            guard waiting.answer == nil else { return nil as CheckedContinuation<HTTPAnswer, Never>? }
            waiting.answer = answer
            return waiting.continuation.take()
        }
        continuation?.resume(returning: answer)
    }

    // MARK: The session's side

    /// Makes libcurl's handle for it, which must not outlive it; `nil` if there is no memory for one.
    func makeHandle() -> CurlHandle? {
        easy = HTTPEasyHandle(request, context: Unmanaged.passUnretained(self).toOpaque())
        return easy?.handle
    }

    /// Frees libcurl's handle, which must have been taken out of the session's.
    func dropHandle() { easy = nil }

    /// Whether the answer is complete, though libcurl would read on.
    var isComplete: Bool {
        guard reader.head != nil else { return false }
        if case .bytes(let count) = length { return received >= count }
        return !wantsBody
    }

    /// libcurl has come to the end, with this code.
    func finish(_ code: Int) {
        guard let easy else { return }
        if let failure { return end(.failed(failure)) }
        if let head = reader.head, isComplete || received > Self.readLimit || code == 0 && !hasLength {
            end(.answered(head, body: body))
        } else {
            // An answer that ends too early is one to libcurl.
            end(.failed(code == 0 ? .lost : easy.failure(code)))
        }
    }

    private var hasLength: Bool { if case .bytes = length { true } else { false } }

    /// Fills a buffer with what is left of the request's body.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let rest = request.body?.dropFirst(sent).prefix(buffer.count) else { return 0 }
        buffer.copyBytes(from: rest)
        sent += rest.count
        return rest.count
    }

    /// Takes a line of the answer's head. Returns whether to go on.
    func receive(line: UnsafeRawBufferPointer) -> Bool {
        do {
            try reader.receive(line)
            if let head = reader.head, wantsBody, length == nil { length = try HTTPBodyLength(head) }
        } catch {
            failure = error
        }
        return failure == nil
    }

    /// Takes a piece of the answer's body. Returns whether to go on.
    func receive(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard reader.head != nil else {
            failure = .notHTTP(Array(piece.prefix(64)), to: request.method)
            return false
        }
        if case .body(let kept) = ending, wantsBody { body += piece.prefix(max(room(kept) - body.count, 0)) }
        received += piece.count
        return received <= Self.readLimit && !isComplete
    }

    /// How many bytes of the body are kept: those that the server sends beyond its length are not of it.
    private func room(_ kept: Int) -> Int {
        if case .bytes(let count) = length { min(kept, count) } else { kept }
    }

    private var wantsBody: Bool {
        if case .body = ending { reader.head?.isSuccess ?? false } else { false }
    }
}
