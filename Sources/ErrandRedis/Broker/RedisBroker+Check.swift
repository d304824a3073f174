package import Errand

extension RedisBroker {
    /// Checks that the address leads to servers that have Errand's data or may have it, and that they accept this user.
    ///
    /// Unlike ``ping()`` it also rejects a sentinel. A corrupt registry or a missing permission for it is no error.
    ///
    /// - Throws: `BrokerError`, with a code other than `notReachable` if waiting is of no use.
    package func checkAddress() async throws(BrokerError) {
        try await ping()
        do throws(BrokerError) { _ = try await registryDamage() } catch {
            guard error.code == .notPermitted else { throw error }
        }
    }

    /// Checks that the queue's keys have the right types, as every change of the queue does before its first write.
    ///
    /// - Throws: `BrokerError` with code `refused` that names a corrupt key.
    package func checkKeys(of queue: String) async throws(BrokerError) {
        _ = try await run(ScriptCall(.check, on: queue))
    }
}
