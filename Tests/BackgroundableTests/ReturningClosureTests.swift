import Foundation
import Testing

@testable import Backgroundable

/// Where each kind of closure runs, and the meaning of its return.
@Suite struct ReturningClosureTests {
    private let queue = BackgroundQueue()

    /// Whether the calling code runs in a task, on one of the few threads of the pool.
    private static var isInTask: Bool { withUnsafeCurrentTask { $0 != nil } }

    @Test func `a closure without a parameter is finished when it returns`() {
        let wasInTask = Box<Bool?>(nil)
        let operation = AsyncOperation(timeout: 60) {
            try Mishap.throwIf(false)
            wasInTask.change { $0 = Self.isInTask }
        }
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(operation.ending == .finished && !operation.failed && wasInTask.now == false)
    }

    @Test func `the error that a closure without a parameter throws is the operation's`() {
        let failing = queue.addAsyncOperation(timeout: 60) { try Mishap.throwIf(true) }
        let cancelled = queue.addAsyncOperation(timeout: 60) { throw CancellationError() }
        queue.waitUntilAllOperationsAreFinished()
        #expect(failing.errors.map { "\($0)" } == ["broken"] && failing.ending == .finished)
        #expect(cancelled.isCancelled && !cancelled.failed)
    }

    @available(*, deprecated, message: "It calls what is deprecated.")
    @Test func `a closure that throws and awaits nothing keeps no thread of the pool`() {
        let wasInTask = Box<[Bool]>([])
        let operation = AsyncOperation(timeout: 0) { _ in
            wasInTask.change { $0.append(Self.isInTask) }
            try Mishap.throwIf(true)
        }
        queue.addOperation(operation)
        let added = queue.addAsyncOperation(timeout: 0) { _ in
            wasInTask.change { $0.append(Self.isInTask) }
            try Mishap.throwIf(true)
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(wasInTask.now == [false, false])
        #expect([operation, added].map { $0.errors.map { "\($0)" } } == [["broken"], ["broken"]])
    }

    @Test func `a queue takes asynchronous code, and its operation is finished when that returns`() async throws {
        let wasInTask = Box<Bool?>(nil)
        let operation = queue.addAsyncOperation(name: "task", timeout: .zero) { _ in
            await Task.yield()
            wasInTask.change { $0 = Self.isInTask }
        }
        try await operation.succeeded()
        #expect(wasInTask.now == true && operation.name == "task")
        let failing = queue.addAsyncOperation(timeout: 0) { _ in
            await Task.yield()
            throw Mishap("broken")
        }
        await #expect(throws: Mishap.self) { try await failing.succeeded() }
    }

    @Test func `asynchronous code without a parameter runs in a task, and blocking code does not`() async throws {
        let inTask = Box<[Bool]>([])
        let note: @Sendable () -> Void = { inTask.change { $0.append(Self.isInTask) } }
        try await queue.addAsyncOperation(timeout: 0) {
            await Task.yield()
            note()
        }.succeeded()
        try await queue.addAsyncOperation(timeout: 0) { try await Self.noteLater(note) }.succeeded()
        for operation in [
            AsyncOperation(timeout: .zero) { try await Self.noteLater(note) },
            AsyncOperation(timeout: 0) { @MainActor in try await Self.noteLater(note) },
        ] {
            queue.addOperation(operation)
            try await operation.succeeded()
        }
        #expect(inTask.now == [true, true, true, true])
        let blocking = [AsyncOperation(timeout: 0) { note() }, AsyncOperation(timeout: 0, note)]
        queue.addOperations(blocking)
        for operation in blocking + [queue.addAsyncOperation(timeout: 0) { note() }] { try await operation.succeeded() }
        #expect(inTask.now.suffix(3) == [false, false, false])
    }

    private static func noteLater(_ note: @Sendable () -> Void) async throws {
        await Task.yield()
        note()
    }

    @Test func `asynchronous code without a parameter is cancelled and fails with its operation`() async throws {
        let failing = queue.addAsyncOperation(timeout: 0) {
            await Task.yield()
            throw Mishap("broken")
        }
        await #expect(throws: Mishap.self) { try await failing.succeeded() }
        let wasCancelled = Signal()
        let begun = Signal()
        let operation = AsyncOperation(timeout: 0) {
            await withTaskCancellationHandler {
                begun.fire()
                await PendingWait.never()
            } onCancel: {
                wasCancelled.fire()
            }
        }
        queue.addOperation(operation)
        await PendingWait.until(begun)
        operation.cancel()
        await PendingWait.until(wasCancelled)
    }

    @Test func `a closure that returns the value may take the operation`() async throws {
        let inTask = Box<[Bool]>([])
        let note: @Sendable () -> Void = { inTask.change { $0.append(Self.isInTask) } }
        let asynchronous = ResultOperation<String?>(name: "async", timeout: 0) { operation in
            try await Self.noteLater(note)
            return operation.name
        }
        let blocking = ResultOperation<String?>(name: "sync", timeout: 0) { operation in
            note()
            return operation.name
        }
        let throwing = ResultOperation<Int>(timeout: 0) { _ in
            try Mishap.throwIf(true); return 1
        }
        let finishing = ResultOperation<Int>(timeout: 0) { operation in
            note()
            operation.finish(returning: 3)
        }
        queue.maxConcurrentOperationCount = 1
        queue.addOperations([asynchronous, blocking, throwing, finishing])
        #expect(try await [asynchronous.value, blocking.value] == ["async", "sync"])
        await #expect(throws: Mishap.self) { try await throwing.value }
        #expect(try await finishing.value == 3 && inTask.now == [true, false, false])
    }

    @Test func `a timeout after the closure has returned says so`() async throws {
        let late = Signal()
        let returned = AsyncOperation(timeout: 0.01) { _ in }
        let overrunning = AsyncOperation(timeout: 0.01) { _ in _ = late.wait() }
        queue.addOperations([returned, overrunning])
        try await returned.finished()
        try await overrunning.finished()
        #expect(returned.description.contains("timed out: its closure returned, and finish() was not called in time"))
        late.fire()
        #expect(await eventually { overrunning.description.contains("timed out while its closure ran") })
    }

    @Test func `a plain queue takes asynchronous code as well`() async throws {
        try await OperationQueue().addAsyncOperation(timeout: 0) { _ in await Task.yield() }.succeeded()
    }
}

extension Mishap {
    /// Throws on request, and awaits nothing.
    static func throwIf(_ isBroken: Bool) throws {
        if isBroken { throw Mishap("broken") }
    }
}
