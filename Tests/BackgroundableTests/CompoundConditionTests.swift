import Foundation
import Testing

@testable import Backgroundable

/// Compound conditions, and conditions without a failure.
@Suite struct CompoundConditionTests {
    private static let holds = BlockCondition(name: "holds") { true }
    private static let fails = BlockCondition(name: "fails") { throw Mishap("broken") }
    private static let isFalse = BlockCondition(name: "false") { false }

    /// Runs an operation with a condition, and returns whether it ran, and its errors.
    private func run(_ condition: some OperationCondition) async throws -> (ran: Bool, errors: [String]) {
        let operation = AsyncOperation(timeout: 0) { $0.finish() }
        operation.addCondition(condition)
        BackgroundQueue().addOperation(operation)
        try await operation.finished()
        #expect(operation.isCancelled == (operation.ending == .cancelled))
        return (operation.ending == .finished, operation.errors.map { "\($0)" })
    }

    @Test func `all conditions of an and have to hold`() async throws {
        #expect(try await run(Self.holds.and(Self.holds)) == (true, []))
        #expect(try await run(Self.holds.and(Self.fails)) == (false, ["broken"]))
        #expect(
            try await run(AndCondition(Self.holds, Self.isFalse, Self.holds)).errors == [
                "the condition false does not hold"
            ]
        )
        #expect(try await run(AndCondition()) == (true, []))
        #expect(Self.holds.and(Self.fails).name == "(holds and fails)")
    }

    @Test func `one condition of an or has to hold`() async throws {
        #expect(try await run(Self.fails.or(Self.holds)) == (true, []))
        #expect(
            try await run(Self.isFalse.or(Self.fails))
                == (
                    false, ["none of the conditions (false or fails) holds (the condition false does not hold; broken)"]
                )
        )
        #expect(try await run(OrCondition()).ran == false)
    }

    @Test func `the first condition that decides is enough, however long the others take`() async throws {
        let never = BlockCondition(name: "never") {
            await PendingWait.never()
            return true
        }
        #expect(try await run(never.or(Self.holds)) == (true, []))
        #expect(try await run(never.and(Self.fails)) == (false, ["broken"]))
        let held = Signal()
        let blocking = BlockCondition { held.wait() }
        #expect(try await run(blocking.or(Self.holds)) == (true, []))
        held.fire()
    }

    @Test func `they may be nested, negated and silenced`() async throws {
        #expect(try await run(Self.holds.and(Self.isFalse.or(Self.holds))) == (true, []))
        #expect(try await run(NegatedCondition(Self.holds.and(Self.fails))) == (true, []))
        #expect(try await run(NegatedCondition(Self.holds.or(Self.fails))).ran == false)
        #expect(try await run(SilentCondition(Self.fails.or(Self.holds))) == (true, []))
    }

    @Test func `an ignored condition cancels without an error`() async throws {
        #expect(try await run(IgnoredCondition(Self.holds)) == (true, []))
        #expect(try await run(IgnoredCondition(Self.fails)) == (false, []))
        #expect(try await run(IgnoredCondition(Self.fails).or(Self.holds)) == (true, []))
        #expect(try await run(IgnoredCondition(Self.fails).or(IgnoredCondition(Self.isFalse))) == (false, []))
        #expect(try await run(IgnoredCondition(Self.fails).or(Self.fails)).errors.count == 1)
        #expect(try await run(IgnoredCondition(Self.fails).and(Self.holds)) == (false, []))
        #expect(try await run(NegatedCondition(IgnoredCondition(Self.fails))) == (true, []))
    }

    @Test func `a condition of one's own may be ignored, beside others that hold`() async throws {
        struct NotNeeded: OperationCondition {
            func evaluate(
                for operation: AsyncOperation,
                completion: @escaping @Sendable (OperationConditionResult) -> Void
            ) {
                completion(.ignored)
            }
        }
        let operation = AsyncOperation(timeout: 0) { $0.finish() }
        operation.addCondition(Self.holds)
        operation.addCondition(NotNeeded())
        BackgroundQueue().addOperation(operation)
        try await operation.finished()
        #expect(operation.isCancelled && !operation.failed)
    }

    @Test func `all of their dependencies run before`() async throws {
        struct Prepared: OperationCondition {
            let log: Box<[String]>

            func dependency(for operation: AsyncOperation) -> Operation? {
                AsyncOperation { log.change { $0.append("prepared") } }
            }

            func evaluate(
                for operation: AsyncOperation,
                completion: @escaping @Sendable (OperationConditionResult) -> Void
            ) {
                log.change { $0.append("evaluated") }
                completion(.satisfied)
            }
        }
        let log = Box<[String]>([])
        #expect(try await run(Prepared(log: log).and(Prepared(log: log))).ran)
        #expect(log.now.first == "prepared" && log.now.last == "evaluated")
        #expect(log.now.sorted() == ["evaluated", "evaluated", "prepared", "prepared"])
        let one = Box<[String]>([])
        #expect(try await run(IgnoredCondition(Self.holds.and(Prepared(log: one)))).ran)
        #expect(one.now == ["prepared", "evaluated"])
    }

    @Test func `their exclusive categories are held`() async throws {
        let running = Box(0)
        let most = Box(0)
        let both = MutuallyExclusive(category: "and 1").and(MutuallyExclusive(category: "and 2"))
        let conditions: [any OperationCondition] = [
            both, SilentCondition(both), IgnoredCondition(both), both.or(Self.fails),
            MutuallyExclusive(category: "and 2"),
        ]
        let queue = BackgroundQueue()
        for number in 0..<50 {
            let operation = AsyncOperation(timeout: 0) { own in
                running.change { $0 += 1 }
                most.change { $0 = max($0, running.now) }
                inTheGlobalQueue {
                    running.change { $0 -= 1 }
                    own.finish()
                }
            }
            let condition = conditions[number % conditions.count]
            operation.addCondition(condition)
            queue.addOperation(operation)
        }
        try await queue.drained()
        #expect(most.now == 1)
    }
}
