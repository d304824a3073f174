import Foundation

/// A roll behind its lock.
typealias SharedRoll = Locked<Roll>

/// A background queue's roll, in parts: threads that add and threads that finish seldom want the same lock.
///
/// Everything of one name is in one part, so comparing and adding are one step there.
struct PartedRoll: Sendable {
    private let parts: [SharedRoll] = (0..<16).map { _ in SharedRoll(Roll()) }

    /// The part where an operation of that name belongs; operations without a name are spread.
    static func part(for operation: Operation, key: NameKey?) -> Int {
        let address = Int(bitPattern: Unmanaged.passUnretained(operation).toOpaque())
        return (key?.hash ?? (address >> 6)) & 15
    }

    subscript(part: Int) -> SharedRoll {
        parts[part]
    }

    /// Runs `body` on every part while all of them are locked.
    func withAllLocked(_ body: (inout Roll) -> Void) {
        withLocked(parts[...], body)
    }

    private func withLocked(_ rest: ArraySlice<SharedRoll>, _ body: (inout Roll) -> Void) {
        guard let first = rest.first else { return }
        first.withLock { roll in
            body(&roll)
            withLocked(rest.dropFirst(), body)
        }
    }
}
