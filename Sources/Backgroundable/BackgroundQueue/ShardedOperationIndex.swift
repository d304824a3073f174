import Foundation

/// The index of a background queue, in shards, so that threads seldom contend for the same lock.
///
/// All operations of one name are in the same shard, so comparing and adding are one step there.
///
/// Unchecked because of the pointer: it is set once, and points to locks.
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

    /// Returns the shard for an operation of that name. Operations without a name are spread by their address.
    static func part(for operation: Operation, key: NameKey?) -> Int {
        let address = Int(bitPattern: Unmanaged.passUnretained(operation).toOpaque())
        return (key?.hash ?? (address >> 6)) & (count - 1)
    }

    /// Runs `body` on one shard while that is locked. Only the lowest bits of `part` are used.
    @inline(__always)
    func withLock<Result>(part: Int, _ body: (inout OperationIndex) -> Result) -> Result {
        parts[part & (ShardedOperationIndex.count - 1)].withLock(body)
    }

    /// Runs `body` on every shard while all of them are locked.
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
