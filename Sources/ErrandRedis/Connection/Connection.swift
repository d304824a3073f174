import Backgroundable
import Dispatch
package import Errand
import Foundation
package import Logging
import Synchronization

/// A connection with a thread of its own, which handlers cannot block.
///
/// Callers encode their commands on their own thread and put them, with what is to happen to the replies, into the
/// mailbox. The connection's thread takes the whole mailbox, appends it once, flushes once and reads the replies in
/// order, so concurrency becomes pipelining by itself. While nothing is under way the next caller writes to the socket
/// himself, and leaves the thread the replies. After any error the hiredis context is thrown away and a new one
/// made, with jittered backoff; what waits in the mailbox meanwhile waits for its patience, what was under way is
/// answered `outcomeUnknown`.
package final class Connection: Sendable {
    /// What becomes of a request.
    package typealias Completion = @Sendable (Result<[RESPValue], BrokerError>) -> Void

    fileprivate struct Request: Sendable {
        let bytes: [UInt8]
        let replies: Int
        let deadline: ContinuousClock.Instant
        let complete: Completion
        /// Set where the caller has written it, or a part.
        var begun: DirectWriter.Begun?
    }

    fileprivate struct Mailbox: Sendable {
        /// Only the first one can be begun.
        var requests: [Request] = []
        var isClosed = false
        /// Set while nothing is under way on a connection that works.
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

    /// Sends commands and calls `complete` on the connection's thread with a reply for each of them.
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

    /// Sends commands and waits for a reply to each of them.
    package func send(_ commands: CommandWriter) async throws(BrokerError) -> [RESPValue] {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<[RESPValue], BrokerError>, Never>) in
            send(commands) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Fails what waits and ends the thread after what is under way.
    package func close() {
        mailbox.withLock { $0.isClosed = true }
        arrival.signal()
    }

    /// Whether the next caller writes himself.
    var isLent: Bool { mailbox.withLock { $0.line != nil } }

    // MARK: The thread

    private func run() {
        var backoff = Backoff()
        while var requests = waitForRequests() {
            guard var context = connect(&requests, &backoff) else { continue }
            serve(&context, requests)
        }
    }

    /// Serves one context until it breaks or there is nothing to do for good.
    private func serve(_ context: inout HiredisContext, _ first: [Request]) {
        var requests: [Request]? = first
        while let batch = requests {
            // What a caller has written he wrote to a connection that was not stale; what can be read is his reply.
            if batch.first?.begun == nil, context.isStale {
                mailbox.withLock { $0.requests.insert(contentsOf: batch, at: 0) }
                return
            }
            guard exchange(batch, over: &context) else { return }
            requests = waitForRequests()
        }
    }

    /// Most requests whose replies are checked together, and wait for each other.
    private static let groupSize = 32

    /// Sends a batch at once and reads its replies, group by group. Answers whether the context can be used on.
    ///
    /// Who gets the last answer may write at once: what he has to send must not wait until this thread comes to rest.
    private func exchange(_ batch: [Request], over context: inout HiredisContext) -> Bool {
        var usable = true
        for (requests, mark) in append(batch, to: &context) {
            do throws(BrokerError) {
                let count = requests.reduce(0) { $0 + $1.replies }
                let replies = try context.replies(count, before: mark)
                if replies.contains(where: \.wantsNewConnection) { usable = false }
                if requests.endIndex == batch.endIndex {
                    // A reply too many would be taken for the answer to the next request.
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

    /// Lets the next caller write himself, if nobody has left anything to this thread meanwhile.
    private func lend(_ context: inout HiredisContext) {
        let line = context.lend()
        mailbox.withLock { if $0.requests.isEmpty, !$0.isClosed { $0.line = line } }
    }

    /// Puts a batch into the output buffer, in groups with a mark behind each. What a caller has begun to write has a mark already.
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

    /// Connects, for as long as somebody waits who has patience left.
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

    /// The next requests, at most about 1,000 commands or 512 KiB of them; `nil` once the connection is closed and what callers
    /// have begun is done.
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
    /// Adds a request, having begun to write it where nothing is under way.
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
    /// Whether it says that this server will not do.
    fileprivate var wantsNewConnection: Bool {
        if case .error(let text) = self { ServerError(text).wantsNewConnection } else { false }
    }
}
