import Foundation

/// A background queue's roll, in parts: threads that add and threads that finish seldom want the same lock.
///
/// Everything of one name is in one part, so comparing and adding are one step there.
///
/// Unchecked because of the pointer: it is set once, and what it points to are locks.
struct ShardedOperationIndex: ~Copyable, @unchecked Sendable {
    private static let count = 16

    private let parts: UnsafeMutablePointer<LockCell<OperationIndex>>

    init() {
        parts = .allocate(capacity: ShardedOperationIndex.count)
        for part in 0..<ShardedOperationIndex.count {
            (parts + part).initialize(to: LockCell(OperationIndex()))
        }
    }

    deinit {
        parts.deinitialize(count: ShardedOperationIndex.count)
        parts.deallocate()
    }

    /// The part where an operation of that name belongs; operations without a name are spread.
    static func part(for operation: Operation, key: NameKey?) -> Int {
        let address = Int(bitPattern: Unmanaged.passUnretained(operation).toOpaque())
        return (key?.hash ?? (address >> 6)) & (count - 1)
    }

    /// Runs `body` on one part while it is locked. Of `part` only the lowest bits count.
    @inline(__always)
    func withLock<Result>(part: Int, _ body: (inout OperationIndex) -> Result) -> Result {
        parts[part & (ShardedOperationIndex.count - 1)].withLock(body)
    }

    /// Runs `body` on every part while all of them are locked.
    func withAllLocked(_ body: (inout OperationIndex) -> Void) {
        withLocked(from: 0, body)
    }

    private func withLocked(from part: Int, _ body: (inout OperationIndex) -> Void) {
        guard part < ShardedOperationIndex.count else { return }
        withLock(part: part) { roll in
            body(&roll)
            withLocked(from: part + 1, body)
        }
    }
}
