import Foundation
import Synchronization

/// A roll behind its lock.
final class SharedRoll: Sendable {
    private let roll = Mutex(Roll())

    func withLock<Result>(_ body: (inout Roll) -> Result) -> Result {
        roll.withLock { body(&$0) }
    }
}

/// A background queue's roll, in parts: threads that add and threads that finish seldom want the same lock.
///
/// Everything of one name is in one part, so comparing and adding are one step there.
struct PartedRoll: Sendable {
    private let parts: [SharedRoll] = (0..<16).map { _ in SharedRoll() }

    /// The part where an operation of that name belongs; operations without a name are spread.
    func part(for operation: Operation, name: String?) -> SharedRoll {
        parts[(name.map(PartedRoll.spread) ?? PartedRoll.spread(operation)) & 15]
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

    /// Names that differ mostly differ at their ends.
    private static func spread(_ name: String) -> Int {
        name.utf8.suffix(6).reduce(name.utf8.count) { $0 &* 31 &+ Int($1) }
    }

    private static func spread(_ operation: Operation) -> Int {
        Int(bitPattern: Unmanaged.passUnretained(operation).toOpaque()) >> 6
    }
}
