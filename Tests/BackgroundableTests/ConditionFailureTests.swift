import Foundation
import Testing

@testable import Backgroundable

/// The first failing condition and the end of the operation decide at once, without further waiting.
@Suite struct ConditionFailureTests {
    private func operation(_ conditions: [any OperationCondition], timeout: TimeInterval = 0) -> AsyncOperation {
        let operation = AsyncOperation(timeout: timeout) { _ in Issue.record("the closure ran") }
        for condition in conditions { _ = operation.addCondition(condition) }
        return operation
    }

    private let queues = [OperationQueue(), BackgroundQueue()]

    @Test func oneThatFailsWaitsForNoOtherOne() {
        for queue in queues {
            let held = Signal()
            let blocked = BlockCondition { held.wait() }
            let slow = BlockCondition {
                try await Task.sleep(for: .seconds(3_600))
                return true
            }
            for other: any OperationCondition in [
                blocked, slow, UndecidedCondition(), NegatedCondition(UndecidedCondition()),
                SilentCondition(UndecidedCondition()),
                NegatedCondition(slow),
            ] {
                for conditions in [
                    [other, BlockCondition(name: "no") { false }], [BlockCondition(name: "no") { false }, other],
                ] {
                    let operation = operation(conditions)
                    queue.addOperation(operation)
                    operation.waitUntilFinished()
                    #expect(operation.errors.map { "\($0)" } == ["the condition no does not hold"])
                }
                held.fire()
                held.fire()
            }
        }
    }

    @Test func whatTheOthersWaitForIsCancelled() {
        for queue in queues {
            let begun = Signal()
            let hanging = AsyncOperation(timeout: 0) { _ in begun.fire() }
            let next = AsyncOperation { _ in Issue.record("a successor ran") }
            next.addDependency(hanging)
            let prepared = PreparedCondition(helper: next)
            let operation = operation([
                PreparedCondition(helper: hanging), prepared, NegatedCondition(PreparedCondition(helper: never())),
                BlockCondition(name: "no") { begun.wait(seconds: 600) && prepared.asked.wait(seconds: 600) && false },
            ])
            queue.addOperation(operation)
            operation.waitUntilFinished()
            hanging.waitUntilFinished()
            next.waitUntilFinished()
            #expect(operation.errors.map { "\($0)" } == ["the condition no does not hold"])
            #expect(hanging.isCancelled && next.isCancelled)
        }
    }

    /// An operation that would never finish by itself.
    private func never() -> AsyncOperation {
        AsyncOperation(timeout: 0) { _ in }
    }

    @Test(arguments: [AsyncOperationEnding.cancelled, .finished])
    func endingTheOperationCancelsWhatItsConditionsWaitFor(ending: AsyncOperationEnding) {
        for queue in queues {
            for wraps in [false, true] {
                let begun = Signal()
                let helper = AsyncOperation(timeout: 0) { _ in begun.fire() }
                let prepared = PreparedCondition(helper: helper)
                let undecided = UndecidedCondition()
                let operation = operation([wraps ? NegatedCondition(prepared) : prepared, undecided], timeout: 3_600)
                queue.addOperation(operation)
                #expect(begun.wait() && undecided.asked.wait())
                if ending == .cancelled { operation.cancel() } else { operation.finish() }
                operation.waitUntilFinished()
                helper.waitUntilFinished()
                #expect(helper.isCancelled && operation.ending == ending && !operation.failed)
            }
        }
    }

    @Test func cancellingAllCancelsThemToo() {
        let queue = BackgroundQueue()
        queue.maxConcurrentOperationCount = 1
        let begun = Signal()
        let helper = AsyncOperation(timeout: 0) { _ in begun.fire() }
        let operation = operation([PreparedCondition(helper: helper)])
        queue.addOperation(operation)
        #expect(begun.wait())
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
        #expect(helper.isCancelled && operation.isCancelled)
    }

    @Test func aTaskThatAConditionAsksIsCancelled() async throws {
        for fails in [false, true] {
            let asked = Box(false)
            let wasCancelled = Box(false)
            let slow = BlockCondition {
                asked.change { $0 = true }
                do { try await Task.sleep(for: .seconds(3_600)) } catch { wasCancelled.change { $0 = true } }
                return true
            }
            let may = Signal()
            let operation = operation(fails ? [slow, BlockCondition { !may.wait() }] : [slow])
            BackgroundQueue().addOperation(operation)
            #expect(await eventually { asked.now })
            if fails { may.fire() } else { operation.cancel() }
            #expect(await eventually { wasCancelled.now })
            try await operation.finished()
        }
    }

    @Test func theFirstTimeoutOfAConditionDecides() {
        // It does not begin, so its own timeout does not begin either.
        let hanging = never()
        hanging.addDependency(never())
        let operation = operation([UndecidedCondition(), PreparedCondition(helper: hanging)], timeout: 2)
        BackgroundQueue().addOperation(operation)
        operation.waitUntilFinished()
        hanging.waitUntilFinished()
        #expect(operation.errors.map { "\($0)" } == ["the condition UndecidedCondition did not decide within 2 s"])
        #expect(hanging.isCancelled)
    }

    @Test func anOperationThatAConditionNamesTooLateIsCancelled() {
        struct Late: OperationCondition {
            let held = Signal()
            let asked = Signal()
            let helper = AsyncOperation { _ in Issue.record("it ran without a request") }

            func dependency(for operation: AsyncOperation) -> Operation? {
                asked.fire()
                _ = held.wait()
                return helper
            }

            func evaluate(
                for operation: AsyncOperation,
                completion: @escaping @Sendable (OperationConditionResult) -> Void
            ) {
                Issue.record("it was evaluated without a request")
            }
        }
        let late = Late()
        let operation = operation([late])
        BackgroundQueue().addOperation(operation)
        #expect(late.asked.wait())
        operation.cancel()
        operation.waitUntilFinished()
        late.held.fire()
        late.helper.waitUntilFinished()
        #expect(late.helper.isCancelled)
    }

    @Test func endingAtAnyMomentLeavesNoHelper() {
        let queue = BackgroundQueue()
        for round in 0..<500 {
            let helper = AsyncOperation(timeout: 0) { own in if round.isMultiple(of: 2) { own.finish() } }
            let operation = AsyncOperation { $0.finish() }
            operation.addCondition(PreparedCondition(helper: helper))
            operation.addCondition(BlockCondition { round.isMultiple(of: 3) })
            queue.addOperation(operation)
            if round.isMultiple(of: 5) { operation.cancel() }
            if !round.isMultiple(of: 2) { inTheGlobalQueue { operation.cancel() } }
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.operationCount == 0)
    }
}
