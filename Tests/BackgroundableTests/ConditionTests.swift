import Foundation
import Testing

@testable import Backgroundable

@Suite struct ConditionTests {
    /// Runs an operation with a condition until it ends. Returns whether its closure ran, and the operation.
    private func run(
        _ conditions: [any OperationCondition],
        in queue: OperationQueue,
        timeout: TimeInterval = 0
    ) async throws -> (Bool, AsyncOperation) {
        let hasRun = Box(false)
        let operation = AsyncOperation(timeout: timeout) { own in
            hasRun.change { $0 = true }
            own.finish()
        }
        for condition in conditions { operation.add(condition) }
        queue.addOperation(operation)
        // Tests may block every thread of the pool for asynchronous conditions; this one must not.
        try await operation.finished()
        return (hasRun.now, operation)
    }

    private let queues = [OperationQueue(), BackgroundQueue()]

    @Test func aConditionThatHoldsLetsItRun() async throws {
        for queue in queues {
            let (hasRun, operation) = try await run(
                [BlockCondition { true }, BlockCondition { await isTrue() }, NoFailedDependenciesCondition()],
                in: queue
            )
            #expect(hasRun && !operation.failed && operation.ending == .finished)
        }
    }

    @Test func oneThatFailsCancelsItWithTheError() async throws {
        for queue in queues {
            let (hasRun, operation) = try await run(
                [
                    BlockCondition(name: "first") { false }, BlockCondition { true },
                    BlockCondition { throw Mishap("second") }, BlockCondition { try await fails("third") },
                ],
                in: queue
            )
            #expect(!hasRun && operation.isCancelled && operation.isFinished)
            let error = try #require(operation.errors.first)
            #expect(operation.errors.count == 1)
            #expect(["the condition first does not hold", "second", "third"].contains("\(error)"))
        }
    }

    @Test func negationTurnsItRoundAndNamesIt() async throws {
        for queue in queues {
            #expect((try await run([NegatedCondition(BlockCondition { false })], in: queue)).0)
            #expect((try await run([NegatedCondition(BlockCondition { throw Mishap("x") })], in: queue)).0)
            let (hasRun, operation) = try await run(
                [NegatedCondition(BlockCondition(name: "full") { true })],
                in: queue
            )
            #expect(!hasRun)
            #expect(operation.errors.map { "\($0)" } == ["the condition not full does not hold"])
        }
    }

    @Test func aConditionMayHaveSomethingRunFirstUnlessItIsSilent() async throws {
        struct SignedIn: OperationCondition {
            let isSignedIn = Box(false)

            func dependency(for operation: AsyncOperation) -> Operation? {
                AsyncOperation { own in
                    inTheGlobalQueue {
                        isSignedIn.change { $0 = true }
                        own.finish()
                    }
                }
            }

            func evaluate(
                for operation: AsyncOperation,
                completion: @escaping @Sendable (OperationConditionResult) -> Void
            ) {
                completion(isSignedIn.now ? .satisfied : .failed(Mishap("signed out")))
            }
        }
        for queue in queues {
            queue.maxConcurrentOperationCount = 1
            #expect((try await run([SignedIn()], in: queue)).0)
            #expect(!(try await run([SilentCondition(SignedIn())], in: queue)).0)
            #expect(!(try await run([NegatedCondition(SignedIn())], in: queue)).0)
            #expect((try await run([NegatedCondition(SilentCondition(SignedIn()))], in: queue)).0)
        }
    }

    @Test func oneThatNeverDecidesFails() async throws {
        struct Undecided: OperationCondition {
            func evaluate(
                for operation: AsyncOperation,
                completion: @escaping @Sendable (OperationConditionResult) -> Void
            ) {}
        }
        let (hasRun, operation) = try await run([Undecided()], in: BackgroundQueue(), timeout: 0.2)
        #expect(!hasRun && operation.isCancelled)
        #expect(operation.errors.map { "\($0)" } == ["the condition Undecided did not decide within 0.2 s"])
    }

    @Test func aBlockingConditionFailsInTimeWhateverTheOthersDo() async throws {
        let held = Signal()
        let blocking = BlockCondition(name: "Blocking") {
            held.wait()
        }
        let (hasRun, operation) = try await run(
            [blocking, BlockCondition { true }],
            in: BackgroundQueue(),
            timeout: 0.2
        )
        held.fire()
        #expect(!hasRun && operation.isCancelled)
        #expect(operation.errors.map { "\($0)" } == ["the condition Blocking did not decide within 0.2 s"])
    }

    @Test func onlyTheFirstDecisionCounts() async throws {
        struct Fickle: OperationCondition {
            func evaluate(
                for operation: AsyncOperation,
                completion: @escaping @Sendable (OperationConditionResult) -> Void
            ) {
                completion(.satisfied)
                completion(.failed(Mishap("changed my mind")))
            }
        }
        #expect((try await run([Fickle(), BlockCondition { true }], in: BackgroundQueue())).0)
    }

    @Test func noPlaceIsTakenWhileConditionsAreEvaluated() {
        let queue = BackgroundQueue()
        queue.maxConcurrentOperationCount = 1
        let held = Signal()
        let asked = Signal()
        let order = Box<[String]>([])
        let first = AsyncOperation { own in
            order.change { $0.append("conditional") }
            own.finish()
        }
        first.addCondition(
            BlockCondition {
                asked.fire()
                return held.wait()
            }
        )
        queue.addOperation(first)
        #expect(asked.wait())
        queue.addOperations([PlainOperation { order.change { $0.append("other") } }], waitUntilFinished: true)
        held.fire()
        first.waitUntilFinished()
        #expect(order.now == ["other", "conditional"])
    }

    @Test func conditionsAreEvaluatedOnceAndOnlyWhenTheDependenciesHaveFinished() {
        for queue in queues {
            let first = AsyncOperation(timeout: 0) { _ in }
            let asked = Box<[Bool]>([])
            let second = AsyncOperation { $0.finish() }
            second.addDependency(first)
            second.addCondition(
                BlockCondition {
                    asked.change { $0.append(first.isFinished) }
                    return true
                }
            )
            let early = BlockOperation {}
            early.start()
            second.addDependency(early)
            queue.addOperations([second, first])
            queue.addOperations([PlainOperation()], waitUntilFinished: true)
            #expect(asked.now.isEmpty)
            first.finish()
            second.waitUntilFinished()
            #expect(asked.now == [true])
        }
    }

    @Test func addingAFinishedDependencyDoesNotBeginTheEvaluation() {
        let asked = Box(0)
        let operation = AsyncOperation { $0.finish() }
        operation.addCondition(
            BlockCondition {
                asked.change { $0 += 1 }
                return true
            }
        )
        let finished = BlockOperation {}
        finished.start()
        operation.addDependency(finished)
        #expect(operation.addCondition(BlockCondition { true }))
        #expect(asked.now == 0)
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        #expect(asked.now == 1)
        #expect(!operation.addCondition(BlockCondition { true }))
    }

    @Test func failedDependenciesAreReportedAlongAChain() {
        for queue in queues {
            let first = AsyncOperation(name: "first") { $0.finish(with: Mishap("root")) }
            let second = AsyncOperation(name: "second") { $0.finish() }
            let third = AsyncOperation(name: "third") { $0.finish() }
            for (later, earlier) in [(second, first), (third, second)] {
                later.addDependency(earlier)
                later.addCondition(NoFailedDependenciesCondition())
            }
            queue.addOperations([third, second, first], waitUntilFinished: true)
            #expect(second.errors.map { "\($0)" } == ["a dependency did not succeed: first (root)"])
            #expect(third.errors.map { "\($0)" } == ["a dependency did not succeed: second (root)"])
        }
    }

    @Test func cancelledDependenciesCountUnlessTheyAreIgnored() {
        for (ignores, isPlain) in [(false, false), (true, false), (false, true), (true, true)] {
            let first = isPlain ? PlainOperation() : AsyncOperation { $0.finish() }
            first.cancel()
            let second = AsyncOperation { $0.finish() }
            second.addDependency(first)
            second.addCondition(NoFailedDependenciesCondition(ignoreCancellations: ignores))
            OperationQueue().addOperations([first, second], waitUntilFinished: true)
            #expect(second.failed == !ignores && second.isCancelled)
        }
        let timedOut = AsyncOperation(timeout: 0.01) { _ in }
        let second = AsyncOperation { $0.finish() }
        second.addDependency(timedOut)
        second.addCondition(NoFailedDependenciesCondition(ignoreCancellations: true))
        OperationQueue().addOperations([timedOut, second], waitUntilFinished: true)
        #expect(second.failed)
    }

    @Test func anOperationInNoQueueRunsWhenItsConditionsHold() {
        let held = Signal()
        let operation = AsyncOperation { $0.finish() }
        operation.addCondition(BlockCondition { held.wait() })
        operation.addCondition(MutuallyExclusive(category: "no queue"))
        operation.start()
        #expect(!operation.isExecuting && !operation.isFinished)
        held.fire()
        operation.waitUntilFinished()
        #expect(operation.ending == .finished)
    }

    @Test func endingItMeanwhileLetsItLeave() {
        for cancels in [true, false] {
            for queue in queues {
                let held = Signal()
                let asked = Signal()
                let operation = AsyncOperation { _ in }
                operation.addCondition(
                    BlockCondition {
                        asked.fire()
                        return held.wait()
                    }
                )
                queue.addOperation(operation)
                #expect(asked.wait())
                if cancels { operation.cancel() } else { operation.finish() }
                queue.waitUntilAllOperationsAreFinished()
                #expect(operation.isFinished && operation.ending == (cancels ? .cancelled : .finished))
                held.fire()
            }
        }
    }

    @Test func manyEvaluationsLoseNoOperation() async throws {
        for queue in queues {
            queue.maxConcurrentOperationCount = 2
            let count = Box(0)
            for number in 0..<2_000 {
                let operation = AsyncOperation(timeout: 0) { own in
                    count.change { $0 += 1 }
                    own.finish()
                }
                if number.isMultiple(of: 2) {
                    operation.addCondition(BlockCondition { true })
                } else {
                    operation.addCondition(BlockCondition { await isTrue() })
                }
                queue.addOperation(operation)
            }
            try await queue.drained()
            #expect(count.now == 2_000)
        }
    }
}

extension AsyncOperation {
    fileprivate func add(_ condition: any OperationCondition) {
        _ = addCondition(condition)
    }
}

private func isTrue() async -> Bool {
    await Task.yield()
    return true
}

private func fails(_ text: String) async throws -> Bool {
    await Task.yield()
    throw Mishap(text)
}
