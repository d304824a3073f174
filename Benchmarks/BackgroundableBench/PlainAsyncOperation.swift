import Foundation
import Synchronization

/// A hand-written asynchronous operation with only what Foundation requires, for comparison. Its phase is atomic, which
/// is cheaper than the usual lock.
///
/// Unchecked because `Operation` is an open class. Its stored properties are constants.
final class PlainAsyncOperation: Operation, @unchecked Sendable {
    private enum Phase {
        static let waiting: UInt8 = 0
        static let executing: UInt8 = 1
        static let finished: UInt8 = 2
    }

    private let phase = Atomic<UInt8>(Phase.waiting)
    private let work: @Sendable (PlainAsyncOperation) -> Void

    init(_ work: @escaping @Sendable (PlainAsyncOperation) -> Void) {
        self.work = work
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { phase.load(ordering: .acquiring) == Phase.executing }
    override var isFinished: Bool { phase.load(ordering: .acquiring) == Phase.finished }

    override func start() {
        guard !isCancelled else { return finish() }
        willChangeValue(forKey: "isExecuting")
        phase.store(Phase.executing, ordering: .releasing)
        didChangeValue(forKey: "isExecuting")
        work(self)
    }

    func finish() {
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        phase.store(Phase.finished, ordering: .releasing)
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}
