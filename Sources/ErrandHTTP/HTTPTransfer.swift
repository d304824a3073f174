import CErrandCurl
import Foundation
import Synchronization

/// One request in progress, and the task that waits for its response.
///
/// Only the session's thread, including libcurl's callbacks, accesses state outside the mutex.
final class HTTPTransfer: @unchecked Sendable {
    private struct Waiting {
        var answer: HTTPAnswer?
        var continuation: CheckedContinuation<HTTPAnswer, Never>?
    }

    /// The largest number of bytes of a body to read.
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
    /// The problem with the response.
    private var failure: HTTPFailure?

    init(_ request: HTTPRequest, until ending: HTTPAnswerEnd) {
        self.request = request
        self.ending = ending
    }

    // MARK: The task's side

    /// Resumes the continuation with the outcome, at once if there is one.
    func wait(_ continuation: CheckedContinuation<HTTPAnswer, Never>) {
        let answer = waiting.withLock { waiting in
            if waiting.answer == nil { waiting.continuation = continuation }
            return waiting.answer
        }
        if let answer { continuation.resume(returning: answer) }
    }

    /// Whether the outcome is known, so that no task waits any more.
    var hasEnded: Bool { waiting.withLock { $0.answer != nil } }

    /// Ends the wait; only the first outcome counts.
    func end(_ answer: HTTPAnswer) {
        let continuation = waiting.withLock { waiting in
            guard waiting.answer == nil else { return nil as CheckedContinuation<HTTPAnswer, Never>? }
            waiting.answer = answer
            return waiting.continuation.take()
        }
        continuation?.resume(returning: answer)
    }

    // MARK: The session's side

    /// Makes libcurl's handle, which must not outlive the transfer; `nil` if memory is exhausted.
    func makeHandle() -> CurlHandle? {
        easy = HTTPEasyHandle(request, context: Unmanaged.passUnretained(self).toOpaque())
        return easy?.handle
    }

    /// Frees libcurl's handle, which must have been removed from the session's.
    func dropHandle() { easy = nil }

    /// Whether the response is complete, even if libcurl would read on.
    var isComplete: Bool {
        guard reader.head != nil else { return false }
        if case .bytes(let count) = length { return received >= count }
        return !wantsBody
    }

    /// Ends the transfer after libcurl has ended with this code.
    func finish(_ code: Int) {
        guard let easy else { return }
        if let failure { return end(.failed(failure)) }
        if let head = reader.head, isComplete || received > Self.readLimit || code == 0 && !hasLength {
            end(.answered(head, body: body))
        } else {
            // libcurl reports success for a response that ends too early.
            end(.failed(code == 0 ? .lost : easy.failure(code)))
        }
    }

    private var hasLength: Bool { if case .bytes = length { true } else { false } }

    /// Fills a buffer with the next part of the request's body.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let rest = request.body?.dropFirst(sent).prefix(buffer.count) else { return 0 }
        buffer.copyBytes(from: rest)
        sent += rest.count
        return rest.count
    }

    /// Receives a line of the response's head and returns whether to continue.
    func receive(line: UnsafeRawBufferPointer) -> Bool {
        do {
            try reader.receive(line)
            if let head = reader.head, wantsBody, length == nil { length = try HTTPBodyLength(head) }
        } catch {
            failure = error
        }
        return failure == nil
    }

    /// Receives a piece of the response's body and returns whether to continue.
    func receive(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard reader.head != nil else {
            failure = .notHTTP(Array(piece.prefix(64)), to: request.method)
            return false
        }
        if case .body(let kept) = ending, wantsBody { body += piece.prefix(max(room(kept) - body.count, 0)) }
        received += piece.count
        return received <= Self.readLimit && !isComplete
    }

    /// Returns the number of bytes to keep. Bytes beyond the body's length do not belong to it.
    private func room(_ kept: Int) -> Int {
        if case .bytes(let count) = length { min(kept, count) } else { kept }
    }

    private var wantsBody: Bool {
        if case .body = ending { reader.head?.isSuccess ?? false } else { false }
    }
}
