public import Errand
public import Testing

/// A behaviour that a worker must have on every broker.
public struct WorkerCase: Sendable, CaseIterable, CustomTestStringConvertible {
    /// The expected behaviour, in words.
    public let name: String
    private let play: @Sendable (Fixture) async throws -> Void

    init(_ name: String, _ play: @escaping @Sendable (Fixture) async throws -> Void) {
        self.name = name
        self.play = play
    }

    /// The name of the case.
    public var testDescription: String { name }

    /// All cases.
    public static var allCases: [WorkerCase] {
        running + typed + telling + middleware + ending + stopping + sharing + recurring
    }

    /// Runs the case and records failures with the running test. At the end, the audit of the broker's data must be
    /// clean.
    ///
    /// - Parameter neighbour: The name of another queue whose events come in one order with those of a queue.
    public func run(
        on broker: any Broker,
        neighbour: (_ queue: String) -> String = { $0 + ".fence" }
    ) async throws {
        let fixture = try await Fixture(broker, neighbour: neighbour)
        try await play(fixture)
        #expect(try await broker.audit(fixture.queue, repair: false) == [])
        // A worker that lost its session because this machine stood still has not beaten for a lease, and one that did not
        // get the processor before its shutdown was over releases its session later.
        let beating = try await broker.status(of: fixture.queue).sessions.filter { $0.lastBeatMilliseconds < 2_000 }
        try await fixture.eventually("a worker that has left is not registered") {
            let sessions = try await broker.status(of: fixture.queue).sessions
            return !sessions.contains { session in beating.contains { $0.id == session.id } }
        }
        await fixture.close()
    }
}
