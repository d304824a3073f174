import Backgroundable
import Foundation
import Testing

// Each is unchecked for the reason of its superclass. None has an initializer: it has its superclass's.

private final class MainThatFinishesLater: AsyncOperation, @unchecked Sendable {  // As above.
    let begun = Signal()
    let mayFinish = Signal()

    override func main() {
        begun.fire()
        inTheGlobalQueue {
            _ = self.mayFinish.wait()
            self.finish()
        }
    }
}

private final class SynchronousMain: AsyncOperation, @unchecked Sendable {  // As above.
    let hasRun = Box(false)

    override var isAsynchronous: Bool { false }
    override func main() { hasRun.change { $0 = true } }
}

private final class ExecuteThatFails: AsyncOperation, @unchecked Sendable {  // As above.
    override func execute() { finish(with: Mishap("broken")) }
}

private final class AsynchronousExecute: AsyncOperation, @unchecked Sendable {  // As above.
    let log = Box<[String]>([])

    override func execute() async throws {
        await Task.yield()
        log.change { $0.append("ran") }
        if name == "fails" { throw Mishap("broken") }
    }
}

private final class AroundTheClosure: AsyncOperation, @unchecked Sendable {  // As above.
    let log = Box<[String]>([])

    override func main() {
        log.change { $0.append("before") }
        super.main()
        super.main()
        log.change { $0.append("after") }
    }
}

private final class LaterOnTheGlobalQueue: AsyncOperation, @unchecked Sendable {  // As above.
    override func execute() {
        inTheGlobalQueue { super.execute() }
    }
}

private final class AddsAPart: GroupOperation, @unchecked Sendable {  // As above.
    let log = Box<[String]>([])

    override func execute() {
        addOperation(AsyncOperation { [log] in log.change { $0.append("part") } })
        super.execute()
    }
}

private final class Upload: AsyncOperation, @unchecked Sendable {  // As above.
    let url: String

    init(url: String) {
        self.url = url
        super.init(name: "upload \(url)", timeout: .seconds(30))
    }

    override func execute() { finish() }
}

private final class OverridesNothing: AsyncOperation, @unchecked Sendable {}  // As above.

private final class ForgetsToFinish: AsyncOperation, @unchecked Sendable {  // As above.
    override func main() {}
}

private final class NotesItsTimeout: AsyncOperation, @unchecked Sendable {  // As above.
    let places = Box<[Bool]>([])

    override func didTimeOut() {
        places.change { $0.append(OperationQueue.current === OperationQueue.background) }
    }
}

private final class GroupThatNotesItsTimeout: GroupOperation, @unchecked Sendable {  // As above.
    let places = Box<[Bool]>([])

    override func didTimeOut() {
        places.change { $0.append(OperationQueue.current === OperationQueue.background) }
    }
}

/// Overriding `main()`, `execute()` or its asynchronous form works as usual.
@Suite struct SubclassTests {
    private let queue = OperationQueue()

    @Test func `an operation that overrides main() goes on until it calls finish()`() {
        let operation = MainThatFinishesLater(name: "main", timeout: 60)
        let follower = AsyncOperation { $0.finish() }
        follower.addDependency(operation)
        queue.addOperations([operation, follower], waitUntilFinished: false)
        #expect(operation.begun.wait() && operation.isExecuting && !follower.isExecuting)
        operation.mayFinish.fire()
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.ending == .finished && follower.ending == .finished)
    }

    @Test func `an operation that is not asynchronous is finished when main() returns`() {
        let operation = SynchronousMain()
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(operation.hasRun.now && operation.ending == .finished)
    }

    @Test func `an operation that overrides execute() ends with the error that it finishes with`() {
        let operation = ExecuteThatFails(timeout: 60)
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(operation.ending == .finished && operation.errors.map { "\($0)" } == ["broken"])
    }

    @Test func `an operation that overrides the asynchronous execute() is finished when that returns or throws`()
        async throws
    {
        let operations = [
            AsynchronousExecute(name: "succeeds", timeout: 0), AsynchronousExecute(name: "fails", timeout: 0),
        ]
        queue.addOperations(operations)
        try await queue.drained()
        #expect(operations.map(\.log.now) == [["ran"], ["ran"]])
        #expect(operations.map(\.ending) == [.finished, .finished] && operations.map(\.failed) == [false, true])
    }

    @Test func `super's main() runs the closure, once`() {
        let operation = AroundTheClosure(timeout: 60) { own in
            (own as? AroundTheClosure)?.log.change { $0.append("closure") }
            own.finish()
        }
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(eventually { operation.log.now == ["before", "closure", "after"] })
    }

    @Test func `the closure may be run on another thread when start() has returned`() async throws {
        let operation = LaterOnTheGlobalQueue(timeout: 60) { $0.finish() }
        let task = LaterOnTheGlobalQueue(timeout: 0) { _ in await Task.yield() }
        queue.addOperations([operation, task])
        try await queue.drained()
        #expect(operation.ending == .finished && task.ending == .finished)
    }

    @Test func `a cancelled operation runs nothing that a subclass overrides`() {
        let operations = [SynchronousMain(), SynchronousMain()]
        operations[0].cancel()
        operations[1].finish()
        queue.addOperations(operations, waitUntilFinished: true)
        #expect(operations.map(\.hasRun.now) == [false, false])
    }

    @Test func `calling main() or execute() on an operation that does not run does nothing`() {
        let log = Box(0)
        let operation = AsyncOperation { own in
            log.change { $0 += 1 }
            own.finish()
        }
        operation.main()
        operation.execute()
        #expect(log.now == 0 && operation.ending == nil)
        queue.addOperations([operation], waitUntilFinished: true)
        operation.execute()
        #expect(log.now == 1 && operation.ending == .finished)
    }

    @Test func `an operation without a closure that overrides nothing is finished at once`() async throws {
        let operations = [AsyncOperation(), AsyncOperation(name: "nothing", timeout: 60), OverridesNothing(timeout: 0)]
        queue.addOperations(operations)
        try await queue.drained()
        #expect(operations.map(\.ending) == [.finished, .finished, .finished])
    }

    @Test func `a group may override execute() to add parts`() {
        let group = AddsAPart(operations: [])
        queue.addOperations([group], waitUntilFinished: true)
        #expect(group.log.now == ["part"] && group.ending == .finished)
    }

    @Test func `a subclass may have an initializer of its own`() {
        let operation = Upload(url: "a")
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(operation.name == "upload a" && operation.timeout == 30 && operation.ending == .finished)
    }

    @Test func `didTimeOut() is called once, on the background queue, and only after a timeout`() {
        let called = Signal()
        let late = NotesItsTimeout(timeout: 0.02, onTimeoutCallback: { _ in called.fire() }) { _ in }
        let others = [NotesItsTimeout { $0.finish() }, NotesItsTimeout { $0.cancel() }]
        let group = GroupThatNotesItsTimeout(timeout: 0.02, operations: [AsyncOperation(timeout: 0) { _ in }])
        queue.addOperations([late, group] + others, waitUntilFinished: true)
        #expect(called.wait() && late.places.now == [true])
        #expect(eventually { group.places.now == [true] })
        #expect(others.allSatisfy { $0.places.now.isEmpty })
    }

    @Test func `one that never calls finish() says so when it has timed out`() {
        let operation = ForgetsToFinish(timeout: 0.02)
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(operation.isTimedOut && operation.description.contains("finish() was not called in time"))
    }
}
