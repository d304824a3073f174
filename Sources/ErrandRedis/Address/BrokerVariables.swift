import ErrandText

extension [String: String] {
    /// The environment without variables that may contain a password: Errand's own, which child programs do not need,
    /// and the addresses of other brokers.
    package var withoutSecrets: [String: String] {
        filter { !SecretVariables.names.contains($0.key) && !$0.key.hasSuffix("REDIS_URL") }
    }
}
