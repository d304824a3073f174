import Foundation
import Testing

@testable import Backgroundable

/// The exclusive categories of compound conditions: those of the deciding branches.
@Suite struct CompoundCategoryTests {
    private static let holds = BlockCondition(name: "holds") { true }
    private static let isFalse = BlockCondition(name: "false") { false }

    /// Whether an operation with the condition runs while another one has the category.
    private func waits(_ condition: some OperationCondition, for category: String) async throws -> Bool {
        let queue = BackgroundQueue()
        let begun = Signal()
        let holder = AsyncOperation(timeout: 0) { _ in begun.fire() }
        holder.addCondition(MutuallyExclusive(category: category))
        queue.addOperation(holder)
        await PendingWait.until(begun)
        let operation = AsyncOperation(timeout: 0) { $0.finish() }
        operation.addCondition(condition)
        queue.addOperation(operation)
        let isInLine = { operation.attachments?.evaluation.holds("name \(category)") == true }
        #expect(await eventually { operation.isFinished || isInLine() })
        let waits = isInLine() && !operation.isFinished
        holder.finish()
        try await queue.drained()
        #expect(operation.ending == .finished)
        return waits
    }

    @Test func `a category is the last resort of an or`() async throws {
        let category = "\(UUID())"
        let exclusive = MutuallyExclusive(category: category)
        #expect(try await waits(exclusive, for: category))
        #expect(try await !waits(Self.holds.or(exclusive), for: category))
        #expect(try await !waits(exclusive.or(Self.holds), for: category))
        #expect(try await !waits(exclusive.and(Self.holds).or(Self.holds), for: category))
        #expect(try await waits(Self.isFalse.or(exclusive), for: category))
        #expect(try await waits(exclusive.or(Self.isFalse).and(Self.holds), for: category))
        #expect(try await waits(IgnoredCondition(Self.isFalse.or(exclusive)), for: category))
        #expect(try await !waits(SilentCondition(Self.holds.or(exclusive)), for: category))
        #expect(try await !waits(NegatedCondition(Self.isFalse.and(exclusive)), for: category))
        #expect(try await !waits(Self.holds.or(exclusive).and(Self.holds), for: category))
        #expect(try await waits(Self.holds.or(exclusive).and(exclusive), for: category))
    }

    @Test func `of two categories an or takes the first`() async throws {
        let (one, other) = ("\(UUID())", "\(UUID())")
        let condition = MutuallyExclusive(category: one).or(MutuallyExclusive(category: other))
        #expect(try await waits(condition, for: one))
        #expect(try await !waits(condition, for: other))
    }

    @Test func `an or without conditions says so`() async throws {
        let operation = AsyncOperation { $0.finish() }
        operation.addCondition(OrCondition())
        BackgroundQueue().addOperation(operation)
        try await operation.finished()
        #expect(operation.isCancelled)
        #expect(
            operation.errors.map { "\($0)" } == ["an OrCondition without conditions never holds: give it at least one"]
        )
        #expect([OrCondition().name, AndCondition().name] == ["(or)", "(and)"])
    }
}
