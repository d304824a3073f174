public import Errand
import Logging
import Synchronization

/// A broker for tests of your jobs: in memory, with a clock that the test moves, workers that run jobs when the test
/// asks for it, and injected faults.
///
/// Everything else is real: it is Errand's in-memory broker, which passes the same conformance suite as the Redis
/// broker, and your own `Worker` runs your own handlers on it. It depends on neither Swift Testing nor XCTest and works
/// with both: a failed assertion is thrown as an error.
///
/// ```swift
/// @Test func `a new user is welcomed`() async throws {
///     let broker = TestBroker()
///     try await broker.running(makeWorker(broker)) {
///         try await signUp("ada@example.org", producer: broker.producer())
///         try await broker.assertEnqueued(SendEmail.self) { $0.to == "ada@example.org" }
///
///         let run = try await broker.performNext()
///         #expect(run?.state == .finished)
///     }
/// }
/// ```
public final class TestBroker: Broker {
    /// The clock of the broker. Timeouts of handlers use real time.
    public let clock: TestClock
    let memory: MemoryBroker
    let gate = ClaimGate()
    private let faults = Mutex(Faults())
    private let sessions = Mutex<[String: Session]>([:])

    /// Makes an empty broker.
    public init(clock: TestClock = TestClock()) {
        self.clock = clock
        memory = MemoryBroker { clock.nowMilliseconds }
    }

    /// Makes a producer that uses the test's clock: a job with a delay of ten minutes is due once the clock has moved
    /// by ten minutes.
    public func producer(middleware: [any JobMiddleware] = []) -> Producer {
        Producer(broker: self, middleware: middleware) { [clock] in clock.now }
    }

    /// Injects a fault, which occurs once, at the next call that it fits.
    public func inject(_ fault: Fault) { faults.withLock { $0.add(fault) } }

    func takeFault<Value: Sendable>(_ fits: (Fault) -> Value?) -> Value? { faults.withLock { $0.take(fits) } }

    // MARK: Sessions

    func add(_ session: Session) { sessions.withLock { $0[session.id] = session } }

    func remove(_ session: Session) { _ = sessions.withLock { $0.removeValue(forKey: session.id) } }

    /// Returns whether the session's worker is alive in the test.
    func lives(_ session: Session) -> Bool { sessions.withLock { $0[session.id] != nil } }

    /// The sessions of live workers.
    var livingSessions: [Session] { sessions.withLock { Array($0.values) } }
}
