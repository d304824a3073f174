extension [String: String] {
    /// An environment without the addresses of brokers, in which passwords may be: other programs have no use for them.
    package var withoutBrokerURLs: [String: String] { filter { !$0.key.hasSuffix("REDIS_URL") } }
}
