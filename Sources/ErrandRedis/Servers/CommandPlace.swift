import Errand

/// What a command is about, which decides on the server.
package enum CommandPlace: Sendable {
    /// Keys of a queue.
    case queue(String)
    /// One key of another library, or of no queue.
    case key(String)
    /// No keys, so that any server will do.
    case anywhere
    /// One server, or the keys that it has.
    case server(RedisAddress)

    /// The registry of queues.
    static var registry: CommandPlace { .key(KeySpace.queues) }
}

extension SlotMap {
    /// Returns the master to which a command belongs; `nil` if there is none.
    ///
    /// - Parameter isLost: Whether another master is to be preferred, if any will do.
    func master(
        of place: CommandPlace,
        avoiding isLost: (HostAndPort) -> Bool = { _ in false }
    ) -> HostAndPort? {
        switch place {
        case .queue(let queue): master(of: HashSlot.of(queue: queue))
        case .key(let key): master(of: HashSlot.of(key))
        case .anywhere, .server: masters.first { !isLost($0) } ?? masters.first
        }
    }
}
