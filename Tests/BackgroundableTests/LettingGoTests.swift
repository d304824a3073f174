import Foundation
import Testing

@testable import Backgroundable

/// An ended operation releases its closures and objects, even if the operation itself is retained.
@Suite struct LettingGoTests {
    /// The captures of an operation's code.
    private final class Payload: Sendable {
        func use() {}
    }

    /// A subclass that does its own work and leaves its closure alone. Unchecked for the reason of its superclass.
    private final class Headstrong: AsyncOperation, @unchecked Sendable {
        override func main() { finish() }
    }

    /// A condition that keeps its evaluation.
    private final class Keeper: OperationCondition {
        let completions = Box<[@Sendable (OperationConditionResult) -> Void]>([])
        let asked = Signal()

        func evaluate(
            for operation: AsyncOperation,
            completion: @escaping @Sendable (OperationConditionResult) -> Void
        ) {
            completions.change { $0.append(completion) }
            asked.fire()
        }
    }

    private typealias Make = @Sendable (Payload) -> AsyncOperation

    /// An operation that gets a value through a closure from a running one.
    private static func injecting(_ payload: Payload, from source: ResultOperation<Int>) -> AsyncOperation {
        let operation = TransformOperation<Int, Void> { _ in }
        operation.injectResult(from: source) {
            payload.use(); return $0
        }
        BackgroundQueue().addOperation(source)
        return operation
    }

    /// Two attempts with a pause of this many seconds between them.
    private static func retrying(
        _ payload: Payload,
        after seconds: TimeInterval,
        _ attempt: @escaping @Sendable () -> AsyncOperation
    ) -> AsyncOperation {
        RetryOperation(
            attempts: 2,
            delay: .constant(seconds),
            shouldRetry: { _ in
                payload.use(); return true
            }
        ) { _ in
            payload.use()
            return attempt()
        }
    }

    /// Operations that run in a queue until they end.
    private static let running: [String: Make] = [
        "closure": { payload in
            AsyncOperation {
                payload.use(); $0.finish()
            }
        },
        "closure that is not called": { payload in
            Headstrong { _ in payload.use() }
        },
        "closure of an operation that an observer ends": { payload in
            AsyncOperation { _ in payload.use() }.addObserver(StartedObserver { $0.finish() })
        },
        "task": { payload in
            AsyncOperation { _ in
                await Task.yield(); payload.use()
            }
        },
        "timeout callback": { payload in AsyncOperation(onTimeoutCallback: { _ in payload.use() }) { $0.finish() } },
        "timeout callback that was called": { payload in
            AsyncOperation(timeout: 0.01, onTimeoutCallback: { _ in payload.use() }) { _ in }
        },
        "completion block": { payload in
            let operation = AsyncOperation { $0.finish() }
            operation.completionBlock = { payload.use() }
            return operation
        },
        "observer": { payload in
            AsyncOperation { $0.finish() }.addObserver(
                BlockObserver(startHandler: { _ in payload.use() }, finishHandler: { _, _ in payload.use() })
            )
        },
        "condition": { payload in
            let operation = AsyncOperation { $0.finish() }
            operation.addCondition(
                BlockCondition {
                    payload.use(); return true
                }
            )
            return operation
        },
        "condition that fails": { payload in
            let operation = AsyncOperation { $0.finish() }
            operation.addCondition(
                BlockCondition {
                    payload.use(); return false
                }.or(OrCondition())
            )
            operation.addCondition(
                BlockCondition {
                    await Task.yield(); payload.use(); return true
                }
            )
            return operation
        },
        "injected value": { payload in
            let source = ResultOperation { payload }
            let operation = TransformOperation<Payload, Void> { $0.use() }.injectResult(from: source)
            BackgroundQueue().addOperations([source], waitUntilFinished: true)
            operation.removeDependency(source)
            return operation
        },
        "injection": { payload in injecting(payload, from: ResultOperation { 1 }) },
        "injection without a value": { payload in injecting(payload, from: ResultOperation { throw Mishap("broken") })
        },
        "input": { payload in
            let operation = TransformOperation<Payload, Void> { _ in }
            operation.input = payload
            return operation
        },
        "input that is there after the end": { payload in
            let source = ResultOperation { 1 }
            let operation = TransformOperation<Payload, Void> { _ in }
            operation.injectResult(from: source) { [weak operation] _ in
                operation?.cancel()
                operation?.waitUntilFinished()
                return payload
            }
            BackgroundQueue().addOperation(source)
            return operation
        },
        "value that came too late": { payload in
            ResultOperation<Payload> { operation in
                operation.cancel()
                operation.finish(returning: payload)
            }
        },
        "retry": { payload in
            retrying(payload, after: 0) { AsyncOperation { $0.finish(with: Mishap("broken")) } }
        },
        "retry that is cancelled in its pause": { payload in
            retrying(payload, after: 3_600) {
                AsyncOperation { $0.finish(with: Mishap("broken")) }
                    .addObserver(FinishedObserver { own, _ in inTheGlobalQueue { own.parent?.cancel() } })
            }
        },
        "parts": { payload in
            GroupOperation(operations: [
                AsyncOperation {
                    payload.use(); $0.finish()
                }, PlainOperation { payload.use() },
            ])
        },
    ]

    @Test(arguments: running.keys.sorted()) func `what an operation was given when it has run`(
        what: String
    ) async throws {
        weak var payload: Payload?
        var operation: AsyncOperation?
        do {
            let given = Payload()
            payload = given
            operation = Self.running[what]?(given)
        }
        let kept = try #require(operation)
        BackgroundQueue().addOperation(kept)
        try await kept.finished()
        #expect(await eventually { payload == nil }, "\(kept)")
    }

    /// One of them waits for the end of the operation, which it has only in a queue.
    private static let cancellable = running.keys.filter { $0 != "input that is there after the end" }.sorted()

    @Test(arguments: cancellable) func `what an operation was given that was cancelled before`(
        what: String
    ) async throws {
        for starts in [false, true] {
            weak var payload: Payload?
            var operation: AsyncOperation?
            do {
                let given = Payload()
                payload = given
                operation = Self.running[what]?(given)
            }
            let kept = try #require(operation)
            kept.cancel()
            // Waits for its end are resumed when a queue starts it.
            let waits = ["observer", "completion block"].contains(what)
            if starts { BackgroundQueue().addOperation(kept) }
            if starts || !waits { #expect(await eventually { payload == nil }, "\(kept)") }
            // Foundation must not access it after it is gone.
            for source in kept.dependencies { try await source.finished() }
        }
    }

    @Test func `conditions that are being evaluated`() async throws {
        weak var payload: Payload?
        weak var gone: AsyncOperation?
        let keeper = Keeper()
        do {
            let given = Payload()
            payload = given
            let operation = AsyncOperation(timeout: 3_600) { _ in given.use() }
            gone = operation
            operation.addCondition(keeper.and(NegatedCondition(keeper)))
            operation.addCondition(
                BlockCondition {
                    given.use(); return true
                }.and(keeper)
            )
            operation.addObserver(FinishedObserver { _, _ in given.use() })
            BackgroundQueue().addOperation(operation)
            for _ in 0..<3 { await PendingWait.until(keeper.asked) }
            operation.cancel()
            try await operation.finished()
        }
        #expect(await eventually { payload == nil && gone == nil })
        withExtendedLifetime(keeper) {}
    }

    @Test func `an operation and a condition that hold each other`() async throws {
        weak var gone: AsyncOperation?
        weak var cancelled: AsyncOperation?
        do {
            let (one, other) = (AsyncOperation { $0.finish() }, AsyncOperation { $0.finish() })
            (gone, cancelled) = (one, other)
            one.addCondition(BlockCondition { !one.isCancelled })
            other.addCondition(BlockCondition { !other.isCancelled })
            BackgroundQueue().addOperation(one)
            other.cancel()
            try await one.finished()
        }
        #expect(await eventually { gone == nil && cancelled == nil })
    }

    @Test func `a position in a category`() async throws {
        weak var gone: ConditionEvaluation?
        do {
            let operation = AsyncOperation { $0.finish() }
            operation.addCondition(MutuallyExclusive(category: "\(UUID())"))
            gone = operation.attachments?.evaluation
            #expect(gone != nil)
            BackgroundQueue().addOperation(operation)
            try await operation.finished()
        }
        #expect(await eventually { gone == nil })
    }

    @Test func `an operation and what it injects into another one`() async throws {
        weak var source: ResultOperation<Int>?
        weak var target: TransformOperation<Int, Int>?
        do {
            let one = ResultOperation { 1 }
            let other = TransformOperation<Int, Int> { $0 }
            (source, target) = (one, other)
            other.injectResult(from: one) { value in value + (other.input ?? 0) }
            BackgroundQueue().addOperations([one, other])
            #expect(try await other.value == 1)
        }
        #expect(await eventually { source == nil && target == nil })
    }

    @Test func `a group, its queue and its parts`() async throws {
        weak var queue: BackgroundQueue?
        weak var part: AsyncOperation?
        do {
            let inner = AsyncOperation { $0.finish() }
            let group = GroupOperation(operations: [inner])
            (queue, part) = (group.queue, inner)
            inner.addCondition(BlockCondition { !group.isCancelled })
            inner.addObserver(FinishedObserver { _, _ in _ = group.isCancelled })
            BackgroundQueue().addOperation(group)
            try await group.finished()
        }
        #expect(await eventually { queue == nil && part == nil })
    }
}
