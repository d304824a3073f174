import Synchronization

/// A limit for browsers that listen to events. Each costs a thread and a connection to the broker, and workers need
/// some of these, too.
final class Listeners: Sendable {
    /// The slot of one listener, occupied for as long as this object lives.
    final class Place: Sendable {
        private let listeners: Listeners

        fileprivate init(_ listeners: Listeners) { self.listeners = listeners }

        deinit { listeners.count.withLock { $0 -= 1 } }
    }

    private static let most = 64
    private let count = Mutex(0)

    /// Returns a slot, or `nil` if none is free.
    func enter() -> Place? {
        let isFree = count.withLock { count in
            guard count < Self.most else { return false }
            count += 1
            return true
        }
        return isFree ? Place(self) : nil
    }
}
