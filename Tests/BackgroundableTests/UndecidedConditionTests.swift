import Foundation
import Testing

@testable import Backgroundable

/// Conditions that do not decide in time, within other conditions.
@Suite struct UndecidedConditionTests {
    private static let holds = BlockCondition { true }
    private static let isFalse = BlockCondition { false }

    /// Runs an operation with a condition that does not decide within its timeout, and returns its errors.
    private func errors(_ condition: some OperationCondition) async throws -> [String] {
        let operation = AsyncOperation(timeout: 0.1) { Issue.record("the closure ran") }
        operation.addCondition(condition)
        BackgroundQueue().addOperation(operation)
        try await operation.finished()
        return operation.errors.map { "\($0)" }
    }

    @Test func `one that does not decide fails in any nesting`() async throws {
        let never = UndecidedCondition()
        let conditions: [any OperationCondition] = [
            never, NegatedCondition(never), SilentCondition(never), IgnoredCondition(never),
            NegatedCondition(AndCondition(never)), NegatedCondition(never.and(Self.holds)),
            NegatedCondition(never.or(Self.isFalse)), NegatedCondition(NegatedCondition(AndCondition(never))),
            IgnoredCondition(AndCondition(never)), IgnoredCondition(OrCondition(never)),
            NegatedCondition(IgnoredCondition(AndCondition(never))),
            SilentCondition(NegatedCondition(AndCondition(never))),
            NegatedCondition(AndCondition(never)).or(IgnoredCondition(Self.isFalse)), never.or(Self.isFalse),
            IgnoredCondition(never).or(IgnoredCondition(Self.isFalse)),
        ]
        for condition in conditions {
            let errors = try await errors(AndCondition([condition]))
            let expected = try #require(errors.first)
            #expect(errors.count == 1 && expected.hasSuffix("did not decide within 0.1 s"), "\(condition.name)")
        }
    }

    @Test func `so does one that waits for an operation that hangs`() async throws {
        let hanging = AsyncOperation(timeout: 0) { _ in }
        let condition = PreparedCondition(helper: hanging)
        let errors = try await errors(NegatedCondition(AndCondition(condition)))
        #expect(errors == ["the condition PreparedCondition did not decide within 0.1 s"])
        try await hanging.finished()
        #expect(hanging.isCancelled)
    }

    @Test func `what decides does not wait for it`() async throws {
        let never = UndecidedCondition()
        let operation = AsyncOperation(timeout: 60) { $0.finish() }
        operation.addCondition(never.or(Self.holds))
        operation.addCondition(NegatedCondition(never.and(Self.isFalse)))
        BackgroundQueue().addOperation(operation)
        try await operation.succeeded()
    }
}
