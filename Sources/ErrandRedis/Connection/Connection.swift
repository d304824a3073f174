import Backgroundable
import Dispatch
package import Errand
import Foundation
package import Logging
import Synchronization

/// A connection with its own thread, which handlers cannot block.
///
/// Callers encode their commands on their own thread and put them into the mailbox, with a completion for the replies.
/// The connection's thread takes the whole mailbox, appends and flushes it once, and reads the replies in order, so
/// concurrent calls are pipelined. While nothing is under way, the next caller writes to the socket directly, and the
/// thread only reads the replies. After any error the hiredis context is discarded and a new one is made, with jittered
/// backoff. Requests in the mailbox wait for it until their patience ends; requests that were under way fail with
/// `outcomeUnknown`.
package final class Connection: Sendable {
    /// The completion of a request.
    package typealias Completion = @Sendable (Result<[RESPValue], BrokerError>) -> Void

    fileprivate struct Request: Sendable {
        let bytes: [UInt8]
        let replies: Int
        let deadline: ContinuousClock.Instant
        let complete: Completion
        /// Set if the caller has written the request, or a part of it.
        var begun: DirectWriter.Begun?
    }

    fileprivate struct Mailbox: Sendable {
        /// Only the first request can be begun.
        var requests: [Request] = []
        var isClosed = false
        /// Set while a working connection is idle.
        var line: DirectWriter?
    }

    private let address: RedisAddress
    private let options: ConnectionOptions
    private let logger: Logger
    fileprivate let mailbox = Mutex(Mailbox())
    private let arrival = DispatchSemaphore(value: 0)

    /// Starts the connection's thread. It connects when there is something to send.
    package init(_ address: RedisAddress, _ options: ConnectionOptions, logger: Logger) {
        self.address = address
        self.options = options
        self.logger = logger
        DedicatedThread.start("errand-redis") { [self] in run() }
    }

    /// Sends commands and calls `complete` on the connection's thread with one reply for each command.
    package func send(_ commands: CommandWriter, _ complete: @escaping Completion) {
        let request = Request(
            bytes: commands.bytes,
            replies: commands.commands,
            deadline: .now + options.patience,
            complete: complete
        )
        let (wasEmpty, isClosed) = mailbox.withLock { mailbox in
            if mailbox.isClosed { return (false, true) }
            mailbox.add(request)
            return (mailbox.requests.count == 1, false)
        }
        if isClosed { complete(.failure(BrokerError(.closed, "the connection was closed"))) }
        if wasEmpty { arrival.signal() }
    }

    /// Sends commands and waits for one reply to each.
    package func send(_ commands: CommandWriter) async throws(BrokerError) -> [RESPValue] {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<[RESPValue], BrokerError>, Never>) in
            send(commands) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Fails waiting requests, and ends the thread after those under way.
    package func close() {
        mailbox.withLock { $0.isClosed = true }
        arrival.signal()
    }

    /// Whether the next caller writes directly.
    var isLent: Bool { mailbox.withLock { $0.line != nil } }

    // MARK: The thread

    private func run() {
        var backoff = Backoff()
        while var requests = waitForRequests() {
            guard var context = connect(&requests, &backoff) else { continue }
            serve(&context, requests)
        }
    }

    /// Serves one context until it breaks or the connection is closed.
    private func serve(_ context: inout HiredisContext, _ first: [Request]) {
        var requests: [Request]? = first
        while let batch = requests {
            // A caller that has begun to write has checked that the connection was not stale; readable bytes belong to
            // its reply.
            if batch.first?.begun == nil, context.isStale {
                mailbox.withLock { $0.requests.insert(contentsOf: batch, at: 0) }
                return
            }
            guard exchange(batch, over: &context) else { return }
            requests = waitForRequests()
        }
    }

    /// The maximum number of requests whose replies are checked together, and wait for each other.
    private static let groupSize = 32

    /// Sends a batch at once and reads its replies, group by group. Returns whether the context remains usable.
    ///
    /// After the last reply of the batch the next caller may write at once, without waiting until this thread is idle.
    private func exchange(_ batch: [Request], over context: inout HiredisContext) -> Bool {
        var usable = true
        for (requests, mark) in append(batch, to: &context) {
            do throws(BrokerError) {
                let count = requests.reduce(0) { $0 + $1.replies }
                let replies = try context.replies(count, before: mark)
                if replies.contains(where: \.wantsNewConnection) { usable = false }
                if requests.endIndex == batch.endIndex {
                    // An extra reply would be taken for the reply to the next request.
                    if context.hasUnread { usable = false }
                    if usable { lend(&context) }
                }
                answer(requests, with: replies)
            } catch {
                logger.debug("connection lost", metadata: ["broker.address": "\(address)", "error": "\(error)"])
                for lost in batch[requests.startIndex...] { lost.complete(.failure(error)) }
                return false
            }
        }
        return usable
    }

    /// Lets the next caller write directly, unless the mailbox has requests for this thread.
    private func lend(_ context: inout HiredisContext) {
        let line = context.lend()
        mailbox.withLock { if $0.requests.isEmpty, !$0.isClosed { $0.line = line } }
    }

    /// Appends a batch to the output buffer, in groups with a mark after each. A request that a caller has begun to
    /// write already has a mark.
    private func append(
        _ batch: [Request],
        to context: inout HiredisContext
    ) -> [(requests: ArraySlice<Request>, mark: SentinelPing)] {
        var groups: [(requests: ArraySlice<Request>, mark: SentinelPing)] = []
        var rest = batch[...]
        if let begun = rest.first?.begun {
            if !begun.rest.isEmpty { context.append(begun.rest) }
            groups.append((rest.prefix(1), begun.mark))
            rest = rest.dropFirst()
        }
        while !rest.isEmpty {
            let group = rest.prefix(Self.groupSize)
            for request in group { context.append(request.bytes) }
            groups.append((group, context.appendMark()))
            rest = rest.dropFirst(Self.groupSize)
        }
        return groups
    }

    private func answer(_ requests: ArraySlice<Request>, with replies: [RESPValue]) {
        var first = 0
        for request in requests {
            request.complete(.success(Array(replies[first..<first + request.replies])))
            first += request.replies
        }
    }

    /// Connects; retries while any request still has patience left.
    private func connect(_ waiting: inout [Request], _ backoff: inout Backoff) -> HiredisContext? {
        while true {
            do throws(BrokerError) {
                let context = try HiredisContext.greeted(address, options)
                backoff.reset()
                return context
            } catch {
                waiting += takeAll()
                let isFinal = error.code == .notPermitted || error.code == .refused || isClosed
                let now = ContinuousClock.now
                let givenUp = waiting.filter { isFinal || $0.deadline <= now }
                waiting.removeAll { isFinal || $0.deadline <= now }
                for request in givenUp { request.complete(.failure(error)) }
                if waiting.isEmpty { return nil }
                logger.debug("no connection", metadata: ["broker.address": "\(address)", "error": "\(error)"])
                Thread.sleep(forTimeInterval: backoff.next())
            }
        }
    }

    private var isClosed: Bool { mailbox.withLock(\.isClosed) }

    private func takeAll() -> [Request] {
        mailbox.withLock { mailbox in
            defer { mailbox.requests.removeAll(keepingCapacity: true) }
            return mailbox.requests
        }
    }

    /// Returns the next requests, at most about 1,000 commands or 512 KiB; `nil` once the connection is closed and the
    /// begun requests are done.
    private func waitForRequests() -> [Request]? {
        while true {
            let (batch, isClosed) = mailbox.withLock { mailbox in
                let batch = mailbox.takeBatch()
                if !batch.isEmpty || mailbox.isClosed { mailbox.line = nil }
                return (batch, mailbox.isClosed)
            }
            if isClosed {
                let begun = batch.prefix { $0.begun != nil }
                for request in batch.dropFirst(begun.count) + takeAll() {
                    request.complete(.failure(BrokerError(.closed, "the connection was closed")))
                }
                return begun.isEmpty ? nil : Array(begun)
            }
            if !batch.isEmpty { return batch }
            arrival.wait()
        }
    }
}

extension Connection.Mailbox {
    /// Adds a request; if the connection is idle, begins to write it first.
    fileprivate mutating func add(_ request: Connection.Request) {
        var request = request
        if requests.isEmpty, let line = line.take() { request.begun = line.begin(request.bytes) }
        requests.append(request)
    }

    fileprivate mutating func takeBatch() -> [Connection.Request] {
        var bytes = 0
        var count = 0
        while count < requests.count, count < 1000, count == 0 || bytes + requests[count].bytes.count <= 512 * 1024 {
            bytes += requests[count].bytes.count
            count += 1
        }
        if count == requests.count {
            defer { requests = [] }
            return requests
        }
        defer { requests.removeFirst(count) }
        return Array(requests.prefix(count))
    }
}

extension RESPValue {
    /// Whether the reply shows that this server is unsuitable.
    fileprivate var wantsNewConnection: Bool {
        if case .error(let text) = self { ServerError(text).wantsNewConnection } else { false }
    }
}
