package import Errand

extension RedisBroker {
    /// Checks that the queue's keys have the right types, as every change of the queue does before its first write.
    ///
    /// - Throws: `BrokerError` with code `refused` that names a corrupt key.
    package func checkKeys(of queue: String) async throws(BrokerError) {
        _ = try await run(ScriptCall(.check, on: queue))
    }
}
