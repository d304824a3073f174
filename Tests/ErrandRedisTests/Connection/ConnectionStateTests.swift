import Errand
import Testing

@testable import ErrandRedis

/// The transitions of a connection's state, without a server.
struct ConnectionStateTests {
    private static let start = ContinuousClock.now
    private static let writer = DirectWriter(descriptor: -1, mark: SentinelPing())
    private static let begun = DirectWriter.Begun(mark: SentinelPing(), rest: [])

    private var state = ConnectionState()

    private static func request(
        _ byte: UInt8,
        size: Int = 1,
        at seconds: Int = 0,
        patience: Duration = .seconds(10)
    ) -> ConnectionRequest {
        ConnectionRequest(
            bytes: [UInt8](repeating: byte, count: size),
            replies: 1,
            since: start + .seconds(seconds),
            deadline: start + .seconds(seconds) + patience,
            complete: { _ in }
        )
    }

    private mutating func send(_ byte: UInt8) -> String { Self.word(state.send(Self.request(byte))) }

    private static func word(_ action: ConnectionState.SendAction) -> String {
        switch action {
        case .write: "write"
        case .wake: "wake"
        case .leave: "leave"
        case .fail: "fail"
        }
    }

    /// The thread's next step: its name, or the first byte of each request to serve.
    private mutating func next() -> String {
        switch state.next() {
        case .wait: "wait"
        case .connect: "connect"
        case .serve(let batch): Self.text(batch)
        case .end: "end"
        }
    }

    private static func text(_ requests: [ConnectionRequest]) -> String {
        requests.map { "\($0.bytes[0])\($0.begun == nil ? "" : " begun")" }.joined(separator: ", ")
    }

    /// Leads to the state idle.
    private mutating func becomeIdle() {
        state.connected()
        state.answered(lending: Self.writer)
    }

    /// Lets a caller begin to write.
    private mutating func begin(_ byte: UInt8) {
        becomeIdle()
        _ = send(byte)
        state.wrotePart(Self.begun)
    }

    @Test mutating func `the first request wakes the thread, which connects`() {
        #expect(next() == "wait")
        #expect(send(1) == "wake")
        #expect(send(2) == "leave")
        #expect(next() == "connect")
        state.connected()
        #expect(next() == "1, 2")
        #expect(next() == "wait")
    }

    @Test mutating func `the thread is woken for requests that arrive while a batch is under way`() {
        state.connected()
        #expect(send(1) == "wake")
        #expect(next() == "1")
        #expect(send(2) == "wake")
        #expect(send(3) == "leave")
        state.answered(lending: Self.writer)
        #expect(!state.isIdle)
        #expect(next() == "2, 3")
    }

    @Test mutating func `after the last reply the next caller writes, and only that one`() {
        becomeIdle()
        #expect(state.isIdle)
        #expect(next() == "wait")
        #expect(state.isIdle)
        #expect(send(1) == "write")
        state.wrotePart(Self.begun)
        #expect(!state.isIdle)
        #expect(send(2) == "leave")
        #expect(next() == "1 begun, 2")
    }

    @Test mutating func `the thread sends what the socket does not take`() {
        becomeIdle()
        #expect(send(1) == "write")
        state.wrotePart(nil)
        #expect(next() == "1")
    }

    @Test mutating func `a broken connection is made again before anything is sent`() {
        state.connected()
        _ = send(1)
        #expect(next() == "1")
        _ = send(2)
        #expect(state.broke().isEmpty)
        state.answered(lending: Self.writer)
        #expect(!state.isIdle)
        #expect(next() == "connect")
    }

    @Test mutating func `unsent requests of a broken connection are sent before later ones`() throws {
        state.connected()
        _ = send(1)
        guard case .serve(let batch) = state.next() else { throw BrokerError(.closed, "nothing to serve") }
        _ = send(2)
        #expect(state.broke(requeuing: batch).isEmpty)
        #expect(next() == "connect")
        state.connected()
        #expect(next() == "1, 2")
    }

    @Test mutating func `without a connection, requests wait as long as their patience`() {
        _ = state.send(Self.request(1, patience: .seconds(1)))
        _ = state.send(Self.request(2, patience: .seconds(2)))
        var outcome = state.failed(at: Self.start, isFinal: false)
        #expect(outcome.failing.isEmpty && outcome.retries)
        outcome = state.failed(at: Self.start + .seconds(1), isFinal: false)
        #expect(Self.text(outcome.failing) == "1" && outcome.retries)
        outcome = state.failed(at: Self.start + .seconds(2), isFinal: false)
        #expect(Self.text(outcome.failing) == "2" && !outcome.retries)
        #expect(next() == "wait")
    }

    /// The requests that fail at an attempt at this time.
    private mutating func failing(at seconds: Int) -> String {
        Self.text(state.failed(at: Self.start + .seconds(seconds), isFinal: false).failing)
    }

    @Test mutating func `after one has waited in vain, others fail at the first attempt`() {
        _ = state.send(Self.request(1))
        #expect(failing(at: 9) == "")
        #expect(failing(at: 10) == "1")
        _ = state.send(Self.request(2, at: 14))
        #expect(failing(at: 14) == "2", "it has just failed")
        _ = state.send(Self.request(3, at: 18))
        #expect(failing(at: 18) == "3", "and again")
        _ = state.send(Self.request(4, at: 24))
        #expect(failing(at: 24) == "", "nothing was sent for 5 s, so it may be back")
        #expect(failing(at: 34) == "4")
        state.connected()
        _ = state.broke()
        _ = state.send(Self.request(5, at: 35))
        #expect(failing(at: 35) == "", "it was back meanwhile")
    }

    @Test mutating func `one that waits for a moment only makes no other impatient`() {
        _ = state.send(Self.request(1, patience: .seconds(1)))
        #expect(failing(at: 1) == "1")
        _ = state.send(Self.request(2, at: 1))
        #expect(failing(at: 1) == "")
    }

    @Test mutating func `a final refusal fails all requests at once`() {
        _ = send(1)
        _ = send(2)
        let outcome = state.failed(at: Self.start, isFinal: true)
        #expect(Self.text(outcome.failing) == "1, 2" && !outcome.retries)
    }

    @Test mutating func `a closed connection fails requests, and stays closed`() {
        _ = send(1)
        #expect(Self.text(state.close()) == "1")
        #expect(send(2) == "fail")
        becomeIdle()
        #expect(!state.isIdle)
        #expect(send(3) == "fail")
        #expect(state.broke().isEmpty)
        #expect(next() == "end")
    }

    @Test mutating func `an idle connection that is closed is no longer lent`() {
        becomeIdle()
        #expect(state.close().isEmpty)
        #expect(!state.isIdle)
        #expect(send(1) == "fail")
        #expect(next() == "end")
    }

    @Test mutating func `a begun request is still served after the connection was closed`() {
        begin(1)
        _ = send(2)
        #expect(Self.text(state.close()) == "2")
        #expect(next() == "1 begun")
        state.answered(lending: Self.writer)
        #expect(next() == "end")
    }

    @Test mutating func `unsent requests fail if the connection is closed and breaks`() {
        state.connected()
        _ = send(1)
        #expect(next() == "1")
        #expect(state.close().isEmpty)
        #expect(Self.text(state.broke(requeuing: [Self.request(1)])) == "1")
        #expect(next() == "end")
    }

    @Test mutating func `a batch has at most 1,000 requests`() {
        state.connected()
        for _ in 0..<1001 { _ = send(7) }
        guard case .serve(let batch) = state.next() else { return #expect(Bool(false), "nothing to serve") }
        #expect(batch.count == 1000)
        #expect(next() == "7")
    }

    @Test mutating func `a batch has at most 512 KiB, or one larger request`() {
        state.connected()
        for (byte, size) in [(1, 512 << 10), (2, 1), (3, 600 << 10), (4, 1)] as [(UInt8, Int)] {
            _ = state.send(Self.request(byte, size: size))
        }
        for batch in ["1", "2", "3", "4"] { #expect(next() == batch) }
    }
}
