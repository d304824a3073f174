import Foundation
import Testing

@testable import Backgroundable

/// Which closure runs where, and what its return means.
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

    @Test func `a plain queue takes asynchronous code as well`() async throws {
        try await OperationQueue().addAsyncOperation(timeout: 0) { _ in await Task.yield() }.succeeded()
    }
}

extension Mishap {
    /// Throws if told to, and awaits nothing.
    static func throwIf(_ isBroken: Bool) throws {
        if isBroken { throw Mishap("broken") }
    }
}
