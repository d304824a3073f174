/// The state of a connection, without its I/O: whether the next caller may write directly, and which requests wait.
///
/// Callers and the connection's thread share it under a lock. Each input returns what its caller has to do.
///
/// ```
///                  connected          answered
///     disconnected ─────────▶ busy ──────────────▶ idle
///                  ◀─────────      ◀──────────────
///                    broke              send
/// ```
///
/// `close` leads from each of them to `closed`.
struct ConnectionState: Sendable {
    private enum Phase: Sendable {
        /// There is no connection: none was made yet, or the last one broke. Requests wait for the next one.
        case disconnected
        /// Requests are under way, or the connection is new. Others wait for the thread.
        case busy
        /// No request is under way or waits, so the next caller writes directly.
        case idle(DirectWriter)
        /// Only a request that was begun before is still served.
        case closed
    }

    /// What a caller does with its request.
    enum SendAction: Sendable {
        /// Write as much of it as possible, pass the result to ``wrotePart(_:)`` under the same lock, and wake the thread.
        case write(DirectWriter)
        /// Wake the thread.
        case wake
        /// Nothing: the thread is awake.
        case leave
        /// Fail it: the connection is closed.
        case fail
    }

    /// What the thread does next.
    enum Step: Sendable {
        /// Sleep until it is woken.
        case wait
        /// Make a connection, and report ``connected()`` or ``failed(at:isFinal:)``.
        case connect
        /// Send these requests and read the replies.
        case serve([ConnectionRequest])
        /// End: the connection is closed.
        case end
    }

    /// The limits of a batch. A larger request is a batch of its own.
    private static let batchLimits = (requests: 1000, bytes: 512 << 10)

    /// How long requests do not wait after one has waited in vain. A web service would otherwise hold each of its requests
    /// for the whole patience while the broker is away.
    private static let impatience = Duration.seconds(5)
    /// A request that has waited for less time does not count: it may only look for any server of a cluster.
    private static let shortestWait = Duration.seconds(2)

    private var phase = Phase.disconnected
    /// Until when requests fail at the first attempt; later with each that fails.
    private var impatientUntil: ContinuousClock.Instant?
    /// Only the first request can be begun.
    private var waiting: [ConnectionRequest] = []

    /// Whether the next caller writes directly.
    var isIdle: Bool { if case .idle = phase { true } else { false } }
    private var isClosed: Bool { if case .closed = phase { true } else { false } }

    // MARK: Inputs of callers

    /// A caller sends a request.
    mutating func send(_ request: ConnectionRequest) -> SendAction {
        switch phase {
        case .closed: return .fail
        case .idle(let writer):
            phase = .busy
            waiting.append(request)
            return .write(writer)
        case .disconnected, .busy:
            waiting.append(request)
            return waiting.count == 1 ? .wake : .leave
        }
    }

    /// The caller has written a part of its request; `nil` if the socket took nothing.
    mutating func wrotePart(_ begun: DirectWriter.Begun?) {
        if !waiting.isEmpty { waiting[0].begun = begun }
    }

    /// The owner closes the connection. Returns the requests to fail: all that wait and are not begun.
    mutating func close() -> [ConnectionRequest] {
        phase = .closed
        let begun = waiting.prefix { $0.begun != nil }.count
        defer { waiting.removeSubrange(begun...) }
        return Array(waiting[begun...])
    }

    // MARK: Inputs of the thread

    /// The thread is ready for the next step.
    mutating func next() -> Step {
        switch phase {
        case .closed where waiting.isEmpty: return .end
        case _ where waiting.isEmpty: return .wait
        case .disconnected: return .connect
        case .idle, .busy, .closed: return .serve(takeBatch())
        }
    }

    /// The thread has made a connection.
    mutating func connected() {
        impatientUntil = nil
        if !isClosed { phase = .busy }
    }

    /// The thread could not connect. Returns the requests to fail, which are those without patience left, or all if no
    /// later attempt can succeed or another request has just waited in vain; and whether to try again after a pause.
    mutating func failed(
        at now: ContinuousClock.Instant,
        isFinal: Bool
    ) -> (failing: [ConnectionRequest], retries: Bool) {
        let failsAll = isFinal || impatientUntil.map { now < $0 } ?? false
        let failing = waiting.filter { failsAll || $0.deadline <= now }
        waiting.removeAll { failsAll || $0.deadline <= now }
        if !isFinal, failing.contains(where: { failsAll || now - $0.since >= Self.shortestWait }) {
            impatientUntil = now + Self.impatience
        }
        return (failing, !waiting.isEmpty)
    }

    /// The last reply of a batch has arrived. The next caller may write at once, without waiting until the thread is
    /// idle, unless requests wait for the thread.
    mutating func answered(lending writer: DirectWriter) {
        if case .busy = phase, waiting.isEmpty { phase = .idle(writer) }
    }

    /// The connection broke. Requests of which nothing was sent wait for the next one, before all others. Returns the
    /// requests to fail: these, if the connection is closed.
    mutating func broke(requeuing unsent: [ConnectionRequest] = []) -> [ConnectionRequest] {
        if isClosed { return unsent }
        phase = .disconnected
        waiting.insert(contentsOf: unsent, at: 0)
        return []
    }

    private mutating func takeBatch() -> [ConnectionRequest] {
        var bytes = 0
        var count = 0
        while count < min(waiting.count, Self.batchLimits.requests) {
            bytes += waiting[count].bytes.count
            if count > 0, bytes > Self.batchLimits.bytes { break }
            count += 1
        }
        if count == waiting.count {
            defer { waiting = [] }
            return waiting
        }
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }
}

/// Commands that a caller sends together, and what receives their replies.
struct ConnectionRequest: Sendable {
    let bytes: [UInt8]
    /// The number of replies.
    let replies: Int
    /// When the caller began to wait for a connection.
    let since: ContinuousClock.Instant
    /// When it stops waiting.
    let deadline: ContinuousClock.Instant
    let complete: Connection.Completion
    /// Set if the caller has written the request, or a part of it.
    var begun: DirectWriter.Begun?
}
