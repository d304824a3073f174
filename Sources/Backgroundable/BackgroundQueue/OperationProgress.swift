import Foundation
import Synchronization

/// The progress of an ``AsyncOperation``, like the one that Foundation makes for an operation without its own
/// `start()`. It is current while the closure runs, so a progress that the closure creates becomes its child.
///
/// Unchecked because `Progress` is an open class. The variable here is atomic.
final class OperationProgress: Progress, @unchecked Sendable {
    private let isShared = Atomic<Bool>(false)

    init() {
        super.init(parent: nil, userInfo: nil)
        totalUnitCount = 1
    }

    /// Whether a child reports the progress of the operation. Without a child this progress is complete when the
    /// closure returns, although the operation may still run.
    var hasChild: Bool {
        isShared.load(ordering: .acquiring)
    }

    /// Runs `body` with this as the thread's current progress.
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
