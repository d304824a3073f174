public import Errand
public import Testing

/// One thing that a worker must do on every broker.
public struct WorkerCase: Sendable, CaseIterable, CustomTestStringConvertible {
    /// What the worker does in this case, in words.
    public let name: String
    private let play: @Sendable (Fixture) async throws -> Void

    init(_ name: String, _ play: @escaping @Sendable (Fixture) async throws -> Void) {
        self.name = name
        self.play = play
    }

    /// The name.
    public var testDescription: String { name }

    /// All cases.
    public static var allCases: [WorkerCase] {
        running + typed + telling + middleware + ending + stopping + sharing + recurring
    }

    /// Runs the case; what is wrong is recorded with the running test. In the end the broker's data must be sound.
    public func run(on broker: any Broker) async throws {
        let fixture = try await Fixture(broker)
        try await play(fixture)
        #expect(try await broker.audit(fixture.queue, repair: false) == [])
        #expect(try await broker.status(of: fixture.queue).sessions == [], "a worker that has left is not registered")
        await fixture.close()
    }
}
