#if ConfigurationSupport
    public import Configuration
    public import Errand
    public import Logging

    extension RedisBroker {
        /// Makes a broker with the address in the key `redis.url`, which is `ERRAND_REDIS_URL` in the environment if
        /// the reader is scoped to `errand`. The value is treated as a secret.
        ///
        /// - Throws: `BrokerError` with code `refused` if the key is missing or is not a valid address. There is no
        ///   default address: a backend without a configured one must not push to a server that no worker uses.
        public convenience init(config: ConfigReader, logger: Logger = .current) throws(BrokerError) {
            guard let url = config.string(forKey: "redis.url", isSecret: true), !url.isEmpty else {
                throw BrokerError(
                    .refused,
                    "no broker URL: set the key redis.url, such as redis://127.0.0.1:6379 (in the environment REDIS_URL, or "
                        + "ERRAND_REDIS_URL if the reader is scoped to errand)"
                )
            }
            self.init(try RedisAddress(url: url), logger: logger)
        }
    }
#endif
