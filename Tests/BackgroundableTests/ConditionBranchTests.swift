import Foundation
import Testing

@testable import Backgroundable

/// Every branch of a compound condition runs its dependencies and is evaluated separately; the first deciding result
/// calls off the other branches.
@Suite struct ConditionBranchTests {
    private static let holds = BlockCondition(name: "holds") { true }
    private static let fails = BlockCondition(name: "fails") { throw Mishap("broken") }

    /// An operation that does not finish by itself, and a signal that it has begun.
    private func hanging() -> (operation: AsyncOperation, begun: Signal) {
        let begun = Signal()
        return (AsyncOperation(timeout: 0) { _ in begun.fire() }, begun)
    }

    private func add(_ condition: some OperationCondition, timeout: TimeInterval = 0) -> AsyncOperation {
        let operation = AsyncOperation(timeout: timeout) { $0.finish() }
        operation.addCondition(condition)
        BackgroundQueue().addOperation(operation)
        return operation
    }

    private func end(of operation: Operation) async -> Bool {
        await eventually { operation.isFinished }
    }

    @Test func `a branch that fails does not wait for the dependency of another one`() async {
        let (helper, begun) = hanging()
        let failing = BlockCondition { begun.wait(seconds: 600) && false }
        let operation = add(PreparedCondition(helper: helper).and(failing))
        #expect(await end(of: operation))
        #expect(operation.isCancelled && operation.failed)
        #expect(await end(of: helper))
        #expect(helper.isCancelled)
    }

    @Test func `a branch that holds does not wait for the dependency of another one`() async {
        let (helper, begun) = hanging()
        let holding = BlockCondition { begun.wait(seconds: 600) }
        let operation = add(PreparedCondition(helper: helper).or(holding))
        #expect(await end(of: operation))
        #expect(operation.ending == .finished && !operation.failed)
        #expect(await end(of: helper))
        #expect(helper.isCancelled)
    }

    @Test func `a nested branch that decides calls off its neighbours and no others`() async {
        let (first, firstBegun) = hanging()
        let (second, secondBegun) = hanging()
        let holding = BlockCondition { firstBegun.wait(seconds: 600) && secondBegun.wait(seconds: 600) }
        let operation = add(
            PreparedCondition(helper: first).and(PreparedCondition(helper: second).or(holding))
        )
        #expect(await end(of: second))
        #expect(second.isCancelled && first.ending == nil && operation.ending == nil)
        first.finish()
        #expect(await end(of: operation))
        #expect(operation.ending == .finished)
    }

    @Test func `a decision calls off nested branches`() async {
        let (first, firstBegun) = hanging()
        let (second, secondBegun) = hanging()
        let holding = BlockCondition { firstBegun.wait(seconds: 600) && secondBegun.wait(seconds: 600) }
        let inner = PreparedCondition(helper: first).and(IgnoredCondition(PreparedCondition(helper: second)))
        let operation = add(NegatedCondition(inner).or(holding))
        for operation in [operation, first, second] { #expect(await end(of: operation)) }
        #expect(operation.ending == .finished && first.isCancelled && second.isCancelled)
    }

    @Test func `nothing that was called off begins because something else was`() async {
        let (first, begun) = hanging()
        let second = AsyncOperation { _ in Issue.record("it began") }
        second.addDependency(first)
        let asked = PreparedCondition(helper: second)
        let failing = BlockCondition { begun.wait(seconds: 600) && asked.asked.wait(seconds: 600) && false }
        let operation = add(asked.or(Self.fails).and(failing.and(PreparedCondition(helper: first))))
        for operation in [operation, first, second] { #expect(await end(of: operation)) }
        #expect(second.isCancelled)
    }

    @Test(arguments: [false, true]) func `the end of the operation calls off every branch`(isAnd: Bool) async {
        let (first, firstBegun) = hanging()
        let (second, secondBegun) = hanging()
        let pair: [any OperationCondition] = [
            PreparedCondition(helper: first), NegatedCondition(PreparedCondition(helper: second).and(Self.holds)),
        ]
        let operation = isAnd ? add(AndCondition(pair)) : add(OrCondition(pair))
        await PendingWait.until(firstBegun)
        await PendingWait.until(secondBegun)
        operation.cancel()
        for operation in [operation, first, second] { #expect(await end(of: operation)) }
        #expect(first.isCancelled && second.isCancelled)
    }

    @Test func `asynchronous code of a branch that is called off is cancelled`() async {
        let begun = Signal()
        let wasCancelled = Signal()
        let slow = BlockCondition {
            await withTaskCancellationHandler {
                begun.fire()
                await PendingWait.never()
            } onCancel: {
                wasCancelled.fire()
            }
            return false
        }
        let operation = add(slow.or(BlockCondition { begun.wait(seconds: 600) }))
        await PendingWait.until(wasCancelled)
        #expect(await end(of: operation))
        #expect(operation.ending == .finished)
    }

    @Test func `a branch is evaluated when its own dependency has finished, whatever that of another one does`() async {
        let (helper, _) = hanging()
        let evaluated = Signal()
        let evaluating = BlockCondition {
            evaluated.fire()
            return true
        }
        let operation = add(
            PreparedCondition(helper: helper).and(PreparedCondition(helper: AsyncOperation {}).and(evaluating))
        )
        await PendingWait.until(evaluated)
        #expect(operation.ending == nil)
        helper.finish()
        #expect(await end(of: operation))
    }

    @Test func `a silent compound runs none of its dependencies`() async {
        let helper = AsyncOperation { _ in Issue.record("it ran") }
        let prepared = PreparedCondition(helper: helper)
        #expect(await end(of: add(SilentCondition(prepared.and(NegatedCondition(Self.fails).or(prepared))))))
    }

    @Test func `a dependency with a timeout may take longer than the operation`() async {
        let helper = AsyncOperation(timeout: 3_600) { _ in }
        let other = UndecidedCondition()
        // The other branch decides by its timeout, so that of the operation has passed.
        let operation = add(PreparedCondition(helper: helper).or(other), timeout: 0.05)
        let timedOut = AsyncOperation(timeout: 0.05) { _ in }
        BackgroundQueue().addOperation(timedOut)
        #expect(await end(of: timedOut))
        #expect(operation.ending == nil)
        helper.finish()
        #expect(await end(of: operation))
        #expect(operation.ending == .finished)
    }

    @Test func `a compound that is asked by a condition of one's own is called off with it`() async {
        struct Wrapper<Inner: OperationCondition>: OperationCondition {
            let inner: Inner

            func evaluate(
                for operation: AsyncOperation,
                completion: @escaping @Sendable (OperationConditionResult) -> Void
            ) {
                Thread { inner.evaluate(for: operation, completion: completion) }.start()
            }
        }
        let (helper, begun) = hanging()
        let operation = add(Wrapper(inner: PreparedCondition(helper: helper).and(Self.holds)))
        await PendingWait.until(begun)
        operation.cancel()
        #expect(await end(of: helper))
        #expect(helper.isCancelled)
    }
}
