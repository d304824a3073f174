public import Errand
public import Testing

/// One thing that every broker must do.
///
/// A test target runs all of them on its broker in one line a test:
///
/// ```swift
/// @Test(arguments: ConformanceCase.allCases)
/// func conforms(_ conformanceCase: ConformanceCase) async throws {
///     try await conformanceCase.run(on: broker)
/// }
/// ```
///
/// Each case uses a queue of its own, so cases may run side by side on one broker. Time is real.
public struct ConformanceCase: Sendable, CaseIterable, CustomTestStringConvertible {
    /// What the broker does in this case, in words.
    public let name: String
    private let play: @Sendable (Fixture) async throws -> Void

    init(_ name: String, _ play: @escaping @Sendable (Fixture) async throws -> Void) {
        self.name = name
        self.play = play
    }

    /// The name.
    public var testDescription: String { name }

    /// All cases.
    public static var allCases: [ConformanceCase] {
        uniqueness + uniqueUntilStarted + streams + naming + succession + outcomes + keptErrors + notes + fences
            + identity
            + lines + parking
            + priorities
            + timing
            + endings + reconciling + handing
            + retryingByHand + settings + queues + schedules + overlaps + sessions + recovery + quarantine + views
            + events
    }

    /// Runs the case; what is wrong is recorded with the running test. In the end the broker's data must be sound.
    public func run(on broker: any Broker) async throws {
        let fixture = try await Fixture(broker)
        try await play(fixture)
        let findings = try await broker.audit(fixture.queue, repair: false)
        #expect(findings == [], "the audit after the case is clean")
        await fixture.close()
    }
}
