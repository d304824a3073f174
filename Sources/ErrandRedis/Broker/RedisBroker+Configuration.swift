#if ConfigurationSupport
    public import Configuration
    public import Errand
    public import Logging

    extension RedisBroker {
        /// A broker at the address of the key `redis.url`, which the environment spells `ERRAND_REDIS_URL` when the reader is
        /// scoped to `errand`. The value is treated as a secret.
        ///
        /// - Throws: `BrokerError` with code `refused` when it is not set, or cannot be read as an address. There is no
        ///   other address to fall back to: a backend that was told none must not push where nobody looks.
        public convenience init(config: ConfigReader, logger: Logger = .current) throws(BrokerError) {
            guard let url = config.string(forKey: "redis.url", isSecret: true), !url.isEmpty else {
                throw BrokerError(
                    .refused,
                    "no broker URL: set the key redis.url (as environment: ERRAND_REDIS_URL), "
                        + "such as redis://127.0.0.1:6379"
                )
            }
            self.init(try RedisAddress(url: url), logger: logger)
        }
    }
#endif
