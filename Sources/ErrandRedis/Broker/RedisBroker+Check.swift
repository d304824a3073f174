package import Errand

extension RedisBroker {
    /// Checks that the queue's keys are of their types, as each change of the queue does before its first write.
    ///
    /// - Throws: `BrokerError` with code `refused` that names a damaged key.
    package func checkKeys(of queue: String) async throws(BrokerError) {
        _ = try await run(ScriptCall(.check, on: queue))
    }
}
