public import Errand

extension RedisBroker {
    /// Returns the time of the queue's server in milliseconds since 1970 UTC. No other clock decides anything.
    ///
    /// - Throws: ``BrokerError`` if the server cannot be reached, or does not return a time.
    public func now(on queue: String) async throws(BrokerError) -> Int64 { try await now(at: .queue(queue)) }

    /// Returns the time of the server of a place.
    func now(at place: CommandPlace) async throws(BrokerError) -> Int64 {
        let parts = try await command(.command("TIME"), for: place).elements ?? []
        guard parts.count == 2, let seconds = parts[0].number, let microseconds = parts[1].number,
            (0...253_402_300_799).contains(seconds), (0..<1_000_000).contains(microseconds)
        else { throw unexpected("the server's time") }
        return seconds * 1000 + microseconds / 1000
    }
}
