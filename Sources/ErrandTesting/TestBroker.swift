public import Errand
import Logging
import Synchronization

/// A broker for tests of your jobs: in memory, with a clock that you move, workers that run when you say so, and faults that
/// come when you ask for them.
///
/// Everything else is real: it is Errand's in-memory broker, which is held to the one in Redis by one suite, and your own
/// `Worker` runs your own handlers on it. It needs neither Swift Testing nor XCTest, and serves both: what is not as asserted
/// is thrown.
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
    /// The clock that the broker goes by. Handlers' timeouts go by real time.
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

    /// A producer that goes by the test's clock, so that a job with a delay of ten minutes is due when you have moved the clock
    /// by ten minutes.
    public func producer(middleware: [any JobMiddleware] = []) -> Producer {
        Producer(broker: self, middleware: middleware) { [clock] in clock.now }
    }

    /// Lets something go wrong once, at the next call that it fits.
    public func inject(_ fault: Fault) { faults.withLock { $0.add(fault) } }

    func takeFault<Value: Sendable>(_ fits: (Fault) -> Value?) -> Value? { faults.withLock { $0.take(fits) } }

    // MARK: Sessions

    func add(_ session: Session) { sessions.withLock { $0[session.id] = session } }

    func remove(_ session: Session) { _ = sessions.withLock { $0.removeValue(forKey: session.id) } }

    /// Whether the session's worker is alive as far as the test has it.
    func lives(_ session: Session) -> Bool { sessions.withLock { $0[session.id] != nil } }

    /// The sessions of living workers.
    var livingSessions: [Session] { sessions.withLock { Array($0.values) } }
}
