import Synchronization

/// How many browsers listen to events. Each costs a thread and a connection to the broker, of which workers need some, too.
final class Listeners: Sendable {
    /// Somebody who listens, for as long as this lives.
    final class Place: Sendable {
        private let listeners: Listeners

        fileprivate init(_ listeners: Listeners) { self.listeners = listeners }

        deinit { listeners.count.withLock { $0 -= 1 } }
    }

    private static let most = 64
    private let count = Mutex(0)

    /// A place; `nil` when there is none.
    func enter() -> Place? {
        let isFree = count.withLock { count in
            guard count < Self.most else { return false }
            count += 1
            return true
        }
        return isFree ? Place(self) : nil
    }
}
