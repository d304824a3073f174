import Foundation
import Synchronization

/// An asynchronous operation as one writes it by hand, with nothing but what Foundation asks for: the measure. Its
/// phase is atomic, which is cheaper than the usual lock.
///
/// Unchecked because `Operation` may be subclassed; there is no variable here.
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
