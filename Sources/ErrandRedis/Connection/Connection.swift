import Backgroundable
import Dispatch
package import Errand
import Foundation
package import Logging
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A connection with its own thread, which handlers cannot block.
///
/// Callers encode their commands on their own thread, and add a completion for the replies. The connection's thread
/// takes all waiting requests, appends and flushes them at once, and reads the replies in order, so concurrent calls are
/// pipelined. While nothing is under way, the next caller writes to the socket directly, and the thread only reads the
/// replies. After any error the hiredis context is discarded and a new one is made, with jittered backoff. Waiting
/// requests wait for it until their patience ends; requests that were under way fail with `outcomeUnknown`.
///
/// ``ConnectionState`` decides; this class does what it returns.
package final class Connection: Sendable {
    /// The completion of a request.
    package typealias Completion = @Sendable (Result<[RESPValue], BrokerError>) -> Void

    private let address: RedisAddress
    private let options: ConnectionOptions
    private let logger: Logger
    private let isWaiting: Bool
    private let outage: Outage
    private let onChange: @Sendable (_ isConnected: Bool) -> Void
    private let state = Mutex(ConnectionState())
    private let exchanging = Mutex(Exchanging())
    private let arrival = DispatchSemaphore(value: 0)

    /// Starts the connection's thread. It connects when there is something to send.
    ///
    /// - Parameters:
    ///   - isWaiting: Whether the calls wait for replicas. Each then gets its reply without waiting for that to the next.
    ///   - outage: Logs when there is no connection; one for all connections to the same place.
    ///   - onChange: Called on the thread when there is a connection, and when it is lost or cannot be made.
    package init(
        _ address: RedisAddress,
        _ options: ConnectionOptions,
        logger: Logger,
        isWaiting: Bool = false,
        outage: Outage = Outage(),
        onChange: @escaping @Sendable (_ isConnected: Bool) -> Void = { _ in }
    ) {
        self.isWaiting = isWaiting
        self.outage = outage
        self.onChange = onChange
        self.address = address
        self.options = options
        self.logger = logger
        DedicatedThread.start("errand-redis") { [self] in run() }
    }

    /// Sends commands and calls `complete` on the connection's thread with one reply for each command.
    ///
    /// - Parameter deadline: How long to wait for a connection, if not for the patience of the options.
    package func send(
        _ commands: CommandWriter,
        until deadline: ContinuousClock.Instant? = nil,
        _ complete: @escaping Completion
    ) {
        let now = ContinuousClock.now
        let request = ConnectionRequest(
            bytes: commands.bytes,
            replies: commands.commands,
            since: now,
            deadline: deadline ?? now + options.patience,
            complete: complete
        )
        let action = state.withLock { state in
            let action = state.send(request)
            if case .write(let writer) = action { state.wrotePart(writer.begin(request.bytes)) }
            return action
        }
        switch action {
        case .write, .wake: arrival.signal()
        case .leave: break
        case .fail: failAsClosed([request])
        }
    }

    /// Sends commands and waits for one reply to each.
    package func send(
        _ commands: CommandWriter,
        until deadline: ContinuousClock.Instant? = nil
    ) async throws(BrokerError) -> [RESPValue] {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<[RESPValue], BrokerError>, Never>) in
            send(commands, until: deadline) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Fails waiting requests, and ends the thread after those under way.
    package func close() {
        failAsClosed(state.withLock { $0.close() })
        arrival.signal()
    }

    /// Does the same as ``close()``, and ends what is under way with `outcomeUnknown`: the server may hang.
    func abort() {
        close()
        exchanging.withLock { if let descriptor = $0.descriptor { shutdown(descriptor, Int32(SHUT_RDWR)) } }
    }

    /// Closes a connection to a server that is not the right one any more. Calls under way get a moment to end; a server
    /// that hangs would keep them for the timeout of a command.
    func retire() {
        close()
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(500)) { [self] in abort() }
    }

    /// Whether the server has not replied for a second or longer. Replicas may take half of a command's timeout.
    var waitsLong: Bool {
        let usual = isWaiting ? options.commandTimeout / 2 + .seconds(1) : .seconds(1)
        return exchanging.withLock { $0.began.map { .now - $0 > usual } ?? false }
    }

    /// What the thread does with its socket.
    private struct Exchanging {
        /// The socket while there is one; it is closed only after this is `nil`.
        var descriptor: Int32?
        /// When the batch was sent whose replies are awaited, or when the thread began to connect.
        var began: ContinuousClock.Instant?
    }

    private func failAsClosed(_ requests: [ConnectionRequest]) {
        for request in requests { request.complete(.failure(BrokerError(.closed, "the connection was closed"))) }
    }

    /// Whether the next caller writes directly.
    var isLent: Bool { state.withLock(\.isIdle) }

    // MARK: The thread

    private func run() {
        var backoff = Backoff()
        while case .connect = nextStep() {
            do throws(BrokerError) {
                var context = try connect()
                backoff.reset()
                outage.end(at: address, logger)
                state.withLock { $0.connected() }
                onChange(true)
                serve(&context)
            } catch {
                outage.note(error, at: address, logger)
                pause(after: error, &backoff)
            }
        }
    }

    /// Connects. A server that accepts the connection and does not reply counts as one that has not replied.
    private func connect() throws(BrokerError) -> HiredisContext {
        exchanging.withLock { $0.began = .now }
        defer { exchanging.withLock { $0.began = nil } }
        return try HiredisContext.greeted(address, options)
    }

    private func nextStep() -> ConnectionState.Step {
        while true {
            let step = state.withLock { $0.next() }
            guard case .wait = step else { return step }
            arrival.wait()
        }
    }

    /// Fails the requests whose patience is over, and waits before the next attempt if others remain.
    private func pause(after error: BrokerError, _ backoff: inout Backoff) {
        let isFinal = error.code == .notPermitted || error.code == .refused
        let (failing, retries) = state.withLock { $0.failed(at: .now, isFinal: isFinal) }
        for request in failing { request.complete(.failure(error)) }
        onChange(false)
        guard retries else { return }
        Thread.sleep(forTimeInterval: backoff.next())
    }

    /// Serves one context until it breaks or the connection is closed.
    private func serve(_ context: inout HiredisContext) {
        exchanging.withLock { [descriptor = context.descriptor] in $0.descriptor = descriptor }
        defer { exchanging.withLock { $0.descriptor = nil } }
        while case .serve(let batch) = nextStep() {
            // A caller that has begun to write has checked that the connection was not stale; readable bytes belong to
            // its reply.
            if batch.first?.begun == nil, context.isStale { return broke(requeuing: batch) }
            exchanging.withLock { $0.began = .now }
            let isUsable = exchange(batch, over: &context)
            exchanging.withLock { $0.began = nil }
            guard isUsable else { return broke() }
        }
    }

    private func broke(requeuing unsent: [ConnectionRequest] = []) {
        failAsClosed(state.withLock { $0.broke(requeuing: unsent) })
        onChange(false)
    }

    /// The maximum number of requests whose replies are checked together, and wait for each other.
    private var groupSize: Int { isWaiting ? 1 : 32 }

    /// Sends a batch at once and reads its replies, group by group. Returns whether the context remains usable.
    ///
    /// After the last reply of the batch the next caller may write at once, without waiting until this thread is idle.
    private func exchange(_ batch: [ConnectionRequest], over context: inout HiredisContext) -> Bool {
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

    private func lend(_ context: inout HiredisContext) {
        let writer = context.lend()
        state.withLock { $0.answered(lending: writer) }
    }

    /// Appends a batch to the output buffer, in groups with a mark after each. A request that a caller has begun to
    /// write already has a mark.
    private func append(
        _ batch: [ConnectionRequest],
        to context: inout HiredisContext
    ) -> [(requests: ArraySlice<ConnectionRequest>, mark: SentinelPing)] {
        var groups: [(requests: ArraySlice<ConnectionRequest>, mark: SentinelPing)] = []
        var rest = batch[...]
        if let begun = rest.first?.begun {
            if !begun.rest.isEmpty { context.append(begun.rest) }
            groups.append((rest.prefix(1), begun.mark))
            rest = rest.dropFirst()
        }
        while !rest.isEmpty {
            let group = rest.prefix(groupSize)
            for request in group { context.append(request.bytes) }
            groups.append((group, context.appendMark()))
            rest = rest.dropFirst(groupSize)
        }
        return groups
    }

    private func answer(_ requests: ArraySlice<ConnectionRequest>, with replies: [RESPValue]) {
        var first = 0
        for request in requests {
            request.complete(.success(Array(replies[first..<first + request.replies])))
            first += request.replies
        }
    }
}

extension RESPValue {
    /// Whether the reply shows that this server is unsuitable.
    fileprivate var wantsNewConnection: Bool {
        if case .error(let text) = self { ServerError(text).wantsNewConnection } else { false }
    }
}
