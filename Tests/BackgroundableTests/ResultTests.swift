import Foundation
import Testing

@testable import Backgroundable

// Each is unchecked for the reason of its superclass.

private final class Answer: ResultOperation<Int>, @unchecked Sendable {  // As above.
    override func execute() { finish(returning: 42) }
}

private final class Doubling: TransformOperation<Int, Int>, @unchecked Sendable {  // As above.
    override func execute() async throws {
        await Task.yield()
        if let input { finish(returning: input * 2) }
    }
}

/// Operations with values, and operations that transform other values.
@Suite struct ResultTests {
    private let queue = BackgroundQueue()

    private func add<Output>(_ operation: ResultOperation<Output>) -> ResultOperation<Output> {
        queue.addOperation(operation)
        return operation
    }

    @Test func `an operation has the value that its closure returns, hands over, or that its subclass finishes with`()
        async throws
    {
        #expect(try await add(ResultOperation(timeout: 0) { 1 }).value == 1)
        let task = ResultOperation(timeout: 0) {
            await Task.yield()
            return "two"
        }
        #expect(try await add(task).value == "two")
        let later = ResultOperation<Int>(timeout: 0) { operation in
            inTheGlobalQueue { operation.finish(withResult: .success(3)) }
        }
        #expect(try await add(later).value == 3)
        #expect(try await add(Answer()).value == 42)
    }

    @Test func `what keeps an operation from producing a value is thrown to those who wait for it`() async throws {
        let throwing = ResultOperation<Int>(timeout: 0) { throw Mishap("broken") }
        await #expect(throws: Mishap.self) { try await add(throwing).value }
        let failing = ResultOperation<Int>(timeout: 0) { $0.finish(withResult: .failure(Mishap("broken"))) }
        await #expect(throws: Mishap.self) { try await add(failing).value }
        #expect(failing.failed)
        let cancelled = ResultOperation<Int>(timeout: 0) { _ in }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await add(cancelled).value }
        let givesUp = ResultOperation<Int>(timeout: 0) { throw CancellationError() }
        await #expect(throws: CancellationError.self) { try await add(givesUp).value }
        #expect(givesUp.isCancelled)
        let late = ResultOperation<Int>(timeout: 0.01) { _ in }
        await #expect { try await add(late).value } throws: { "\($0)" == "timed out after 0.01 s" }
        let empty = ResultOperation<Int>(timeout: 0) { $0.finish() }
        await #expect { try await add(empty).value } throws: { "\($0)".contains("without a result") }
    }

    @Test func `an operation with a value that times out calls back`() async throws {
        let called = Signal()
        let operations: [AsyncOperation] = [
            ResultOperation<Int>(timeout: 0.01, onTimeoutCallback: { _ in called.fire() }) { _ in },
            ResultOperation<Void>(timeout: 0.01, onTimeoutCallback: { _ in called.fire() }) {
                await PendingWait.never()
            },
        ]
        queue.addOperations(operations)
        for operation in operations { try await operation.finished() }
        #expect(operations.map(\.isTimedOut) == [true, true])
        for _ in operations { await PendingWait.until(called) }
    }

    @Test func `the result exists when observers are notified of the end, and not before`() async throws {
        let seen = Box<[Int?]>([])
        let operation = ResultOperation<Int>(timeout: 0) { operation in
            seen.change { $0.append(try? operation.result?.get()) }
            operation.finish(returning: 1)
            operation.finish(returning: 2)
        }
        operation.addObserver(
            FinishedObserver { own, _ in
                let result = (own as? ResultOperation<Int>)?.result
                seen.change { $0.append(try? result?.get()) }
            }
        )
        #expect(operation.result == nil)
        #expect(try await add(operation).value == 1)
        #expect(seen.now == [nil, 1])
    }

    @Test func `one of a value and a cancellation that come together decides for all`() async throws {
        for _ in 0..<200 {
            let operation = ResultOperation<Int>(timeout: 0) { operation in
                inTheGlobalQueue { operation.cancel() }
                operation.finish(returning: 1)
            }
            _ = try? await add(operation).value
            #expect((try? operation.result?.get() == 1) == (operation.ending == .finished ? true : nil))
        }
    }

    @Test func `a result is injected into an operation that depends on it`() async throws {
        let page = ResultOperation(timeout: 0) { "page" }
        let size = TransformOperation(timeout: 0) { (page: String) in page.count }.injectResult(from: page)
        let twice = Doubling(timeout: 0).injectResult(from: size)
        let text = TransformOperation(timeout: 0) { (number: Int) in
            await Task.yield()
            return "\(number)"
        }.injectResult(from: twice) { $0 + 1 }
        let seen = Box<String?>(nil)
        size.addObserver(
            FinishedObserver { own, _ in
                let input = (own as? TransformOperation<String, Int>)?.input
                seen.change { $0 = input }
            }
        )
        queue.addOperations([text, twice, size, page])
        #expect(try await text.value == "9" && seen.now == "page" && size.input == nil)
    }

    @Test func `an input may be set, and its lack is an error`() async throws {
        let set = TransformOperation<Int, Void>(timeout: 0) { _ in }
        set.input = 1
        try await add(set).value
        let lacking = TransformOperation<Int, Void>(timeout: 0) { _ in }
        await #expect { try await add(lacking).value } throws: { "\($0)".contains("has no input") }
    }

    @Test func `an operation whose source has no value is cancelled with the error at the root`() async throws {
        let runs = Box(0)
        let sources = [
            ResultOperation<Int>(name: "source", timeout: 0) { throw Mishap("broken") },
            ResultOperation<Int>(name: "source", timeout: 0) { throw CancellationError() },
            ResultOperation<Int>(name: "source", timeout: 0) { $0.finish() },
        ]
        for (source, reason) in zip(sources, [" (broken)", "", " (it finished without a result"]) {
            let dependant = TransformOperation(timeout: 0) { (_: Int) in runs.change { $0 += 1 } }
            let last = TransformOperation(timeout: 0) { (_: Void) in runs.change { $0 += 1 } }
            queue.addOperations([
                source, dependant.injectResult(from: source), last.injectResult(from: dependant),
            ])
            try await queue.drained()
            let message = dependant.errors.map { "\($0)" }.joined()
            #expect(dependant.isCancelled && message.hasPrefix("a dependency did not succeed: source\(reason)"))
            #expect(last.isCancelled && last.errors.count == 1)
        }
        #expect(runs.now == 0)
    }

    @Test func `a transformation that throws cancels the operation with its error`() async throws {
        let source = ResultOperation(timeout: 0) { 1 }
        let dependant = TransformOperation(timeout: 0) { (_: String) in }.injectResult(from: source) { _ in
            throw Mishap("not text")
        }
        queue.addOperations([source, dependant])
        try await queue.drained()
        #expect(dependant.isCancelled && dependant.errors.map { "\($0)" } == ["not text"])
    }

    @Test func `an operation and its closure are let go of when it has ended`() async throws {
        weak var gone: TransformOperation<Int, Int>?
        do {
            let source = ResultOperation(timeout: 0) { 1 }
            let operation = TransformOperation(timeout: 0) { (number: Int) in number }.injectResult(from: source)
            gone = operation
            queue.addOperations([source, operation])
            _ = try await operation.value
        }
        try await queue.drained()
        #expect(await eventually { gone == nil })
    }
}
