public import Errand
public import Testing

/// A behaviour that every broker must have.
///
/// A test target runs all cases on its broker with a few lines:
///
/// ```swift
/// @Test(arguments: ConformanceCase.allCases)
/// func conforms(_ conformanceCase: ConformanceCase) async throws {
///     try await conformanceCase.run(on: broker)
/// }
/// ```
///
/// Each case uses its own queue, so cases may run concurrently on one broker. They run in real time.
public struct ConformanceCase: Sendable, CaseIterable, CustomTestStringConvertible {
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
    public static var allCases: [ConformanceCase] { casesOfJobs + casesOfGroups + casesOfWorkflows }

    /// The cases of workflows, for checks that only need these.
    public static var casesOfWorkflows: [ConformanceCase] { workflows }

    /// The cases of groups, their limits, rates and orders.
    public static var casesOfGroups: [ConformanceCase] { groups + rates + orders + fullGroups }

    /// The other cases.
    public static var casesOfJobs: [ConformanceCase] {
        uniqueness + windows + expiry + uniqueUntilStarted + streams + naming
            + succession
            + outcomes
            + keptErrors
            + notes
            + fences
            + identity
            + lines + unroutable
            + priorities
            + timing
            + endings + reconciling + directDispatch
            + retryingByHand + settings + queues + schedules + overlaps + sessions + recovery + quarantine + views
            + statistics
            + events
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
        let findings = try await broker.audit(fixture.queue, repair: false)
        #expect(findings == [], "the audit after the case is clean")
        await fixture.close()
    }
}
