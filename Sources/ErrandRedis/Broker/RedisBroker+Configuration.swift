#if ConfigurationSupport
    public import Configuration
    public import Errand
    public import Logging

    extension RedisBroker {
        /// A broker at the address of the key `redis.url`, which the environment spells `ERRAND_REDIS_URL` when the reader is
        /// scoped to `errand`; `redis://127.0.0.1:6379` when it is not set. The value is treated as a secret.
        ///
        /// - Throws: `BrokerError` with code `refused` when the address cannot be read.
        public convenience init(config: ConfigReader, logger: Logger = .current) throws(BrokerError) {
            let url = config.string(forKey: "redis.url", isSecret: true, default: "redis://127.0.0.1:6379")
            self.init(try RedisAddress(url: url), logger: logger)
        }
    }
#endif
