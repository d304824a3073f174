import Foundation
import Testing

@testable import Backgroundable

/// Something that happens once and can be waited for from a synchronous test.
final class Signal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func fire() {
        semaphore.signal()
    }

    /// Waits until it has fired; false if that took longer than any healthy machine needs.
    func wait(seconds: TimeInterval = 120) -> Bool {
        semaphore.wait(timeout: .now() + seconds) == .success
    }
}

/// A value that several threads write.
final class Box<Value: Sendable>: Sendable {
    private let value: Locked<Value>

    init(_ value: Value) {
        self.value = Locked(value)
    }

    var now: Value {
        value.withLock { $0 }
    }

    func change(_ body: @Sendable (inout Value) -> Void) {
        value.withLock { body(&$0) }
    }
}

/// An operation like those of other code. Unchecked because `Operation` may be subclassed.
final class PlainOperation: Operation, @unchecked Sendable {
    private let body: @Sendable () -> Void

    init(name: String? = nil, _ body: @escaping @Sendable () -> Void = {}) {
        self.body = body
        super.init()
        self.name = name
    }

    override func main() {
        body()
    }
}

/// Records the notifications of a background queue, and signals when it is empty.
final class Listener: BackgroundQueueDelegate {
    let log = Box<[String]>([])
    let emptied = Signal()

    func backgroundQueueWillStartOperations(_ queue: BackgroundQueue) {
        log.change { $0.append("start") }
    }

    func backgroundQueueDidFinishOperations(_ queue: BackgroundQueue) {
        log.change { $0.append("finish") }
        emptied.fire()
    }
}

/// A queue whose one place is taken by an operation that waits for `release`, so that what is added waits behind it.
struct BusyQueue {
    let queue = BackgroundQueue()
    private let occupant: AsyncOperation

    init() {
        queue.maxConcurrentOperationCount = 1
        let started = Signal()
        occupant = queue.addAsyncOperation(timeout: 0) { _ in started.fire() }
        _ = started.wait()
    }

    func release() {
        occupant.finish()
        queue.waitUntilAllOperationsAreFinished()
    }
}

/// Runs what waits on a thread of its own. Swift's pool has one thread for each processor, so two tests that wait on its
/// threads could hold up the tasks that they wait for.
func onItsOwnThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { ended in
        Thread {
            body()
            ended.resume()
        }.start()
    }
}

/// Polls until a condition holds or a time limit passes, for conditions without an event.
func eventually(_ condition: () -> Bool) -> Bool {
    let patience = MonotonicTime.now + 120_000_000_000
    while !condition() {
        guard MonotonicTime.now < patience else { return false }
        Thread.sleep(forTimeInterval: 0.001)
    }
    return true
}

/// Polls until a condition holds or a time limit passes, for conditions without an event.
func eventually(seconds: Int = 120, _ condition: () -> Bool) async -> Bool {
    // Counted in polls, so that no time is spent while other tests block the threads of the pool.
    for _ in 0..<(seconds * 1_000) {
        if condition() { return true }
        try? await Task.sleep(for: .milliseconds(1))
    }
    return false
}
