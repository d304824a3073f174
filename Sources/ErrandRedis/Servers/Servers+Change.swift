extension Servers {
    /// What a watcher is told.
    enum Change: Sendable {
        /// Queues may have moved to other servers.
        case moved
        /// An address that stays the same leads to another server.
        case anotherServer
        /// The broker was closed.
        case closed
    }
}
