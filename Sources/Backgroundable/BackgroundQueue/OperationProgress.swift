import Foundation
import Synchronization

/// The progress of an ``AsyncOperation``, as Foundation makes one for an operation that leaves `start()` to it: current
/// while the closure runs, so that progress which is made there is a part of it.
///
/// Unchecked because `Progress` is a class that others may subclass; the variable here is atomic.
final class OperationProgress: Progress, @unchecked Sendable {
    private let isShared = Atomic<Bool>(false)

    init() {
        super.init(parent: nil, userInfo: nil)
        totalUnitCount = 1
    }

    /// Whether there is a part that says how far the operation is. Without one it is finished when the closure returns,
    /// which the operation may not be.
    var hasChild: Bool {
        isShared.load(ordering: .acquiring)
    }

    /// Runs `body` while this is the thread's current progress.
    func perform(_ body: () -> Void) {
        becomeCurrent(withPendingUnitCount: 1)
        body()
        resignCurrent()
    }

    override func addChild(_ child: Progress, withPendingUnitCount count: Int64) {
        super.addChild(child, withPendingUnitCount: count)
        isShared.store(true, ordering: .releasing)
    }
}
