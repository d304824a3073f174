import ErrandText

extension [String: String] {
    /// An environment without what may hold a password: the programs of Errand's own have no use for it, and neither for
    /// the addresses of other brokers.
    package var withoutSecrets: [String: String] {
        filter { !SecretVariables.names.contains($0.key) && !$0.key.hasSuffix("REDIS_URL") }
    }
}
