public import Errand

extension RedisBroker {
    /// Returns the server's time in milliseconds since 1970 UTC. No other clock decides anything.
    ///
    /// - Throws: ``BrokerError`` if the server cannot be reached, or does not return a time.
    public func now() async throws(BrokerError) -> Int64 {
        let parts = try await command(.command("TIME"), for: .anywhere).elements ?? []
        guard parts.count == 2, let seconds = parts[0].number, let microseconds = parts[1].number,
            (0...253_402_300_799).contains(seconds), (0..<1_000_000).contains(microseconds)
        else { throw BrokerError(.protocolViolation, "\(address) answered TIME with something else") }
        return seconds * 1000 + microseconds / 1000
    }
}
