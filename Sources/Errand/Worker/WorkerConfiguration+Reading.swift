#if ConfigurationSupport
    public import Configuration

    extension WorkerConfiguration {
        /// Reads a configuration from the environment, from files, or from other providers of the reader.
        ///
        /// ```swift
        /// let config = ConfigReader(provider: EnvironmentVariablesProvider()).scoped(to: "errand")
        /// let worker = Worker(broker: try RedisBroker(config: config), configuration: try WorkerConfiguration(config: config))
        /// ```
        ///
        /// With this reader, the environment's keys are those in brackets. A key that is not set has the default of the
        /// other initializer.
        ///
        /// | key | what it sets |
        /// |---|---|
        /// | `queues` (`ERRAND_QUEUES`) | names of queues, each with an optional weight: `mail:3,default` |
        /// | `concurrency` (`ERRAND_CONCURRENCY`) | how many jobs run at the same time |
        /// | `leaseSeconds` (`ERRAND_LEASE_SECONDS`) | how long claims last without a heartbeat |
        /// | `graceSeconds` (`ERRAND_GRACE_SECONDS`) | how long a graceful shutdown may take |
        /// | `longestWaitSeconds` (`ERRAND_LONGEST_WAIT_SECONDS`) | how long a claimed job may wait for a slot |
        /// | `stopGraceSeconds` (`ERRAND_STOP_GRACE_SECONDS`) | how long a run may take to stop |
        /// | `version` (`ERRAND_VERSION`) | the version of the program, which operators see |
        ///
        /// - Throws: ``ConfigurationProblem`` with the key whose value is invalid.
        public init(config: ConfigReader) throws(ConfigurationProblem) {
            self.init()
            let queues = try Self.shares(config.stringArray(forKey: "queues") ?? [])
            let concurrency = try config.number("concurrency", in: 1...10_000, or: concurrency)
            self = WorkerConfiguration(
                queues: queues,
                concurrency: concurrency,
                lease: try config.seconds("leaseSeconds", or: lease),
                grace: try config.seconds("graceSeconds", or: grace),
                longestWait: try config.seconds("longestWaitSeconds", or: longestWait),
                stopGrace: try config.seconds("stopGraceSeconds", or: stopGrace),
                version: config.string(forKey: "version", default: version)
            )
        }

        private static func shares(_ texts: [String]) throws(ConfigurationProblem) -> [QueueShare] {
            var shares: [QueueShare] = []
            for text in texts {
                let parts = text.split(separator: ":", omittingEmptySubsequences: false)
                let weight = parts.count == 2 ? Int(parts[1]) : 1
                guard (1...2).contains(parts.count), QueueName.isValid(String(parts[0])), let weight,
                    (1...1000).contains(weight)
                else {
                    throw ConfigurationProblem(
                        "queues",
                        "\"\(text)\" is not a queue: write a name of 1 to 128 of the characters A-Z a-z 0-9 _ . -, or one with "
                            + "a weight of 1 to 1000, such as mail:3"
                    )
                }
                shares.append(QueueShare(String(parts[0]), weight: weight))
            }
            return shares
        }
    }

    /// An invalid value in the configuration.
    public struct ConfigurationProblem: Error, Sendable, Equatable, CustomStringConvertible {
        /// The key, without the reader's scope.
        public let key: String
        /// What is wrong and which values are valid, for people.
        public let reason: String

        init(_ key: String, _ reason: String) {
            self.key = key
            self.reason = reason
        }

        /// Key and reason.
        public var description: String { "configuration key \(key): \(reason)" }
    }

    extension ConfigReader {
        /// An invalid number must throw, not be treated as a missing one.
        fileprivate func number(
            _ key: ConfigKey,
            in range: ClosedRange<Int>,
            or unset: Int
        ) throws(ConfigurationProblem) -> Int {
            guard let number = int(forKey: key) else {
                guard string(forKey: key) == nil else { throw .init("\(key)", "it must be a whole number") }
                return unset
            }
            guard range.contains(number) else {
                throw .init("\(key)", "it must be \(range.lowerBound) to \(range.upperBound), not \(number)")
            }
            return number
        }

        fileprivate func seconds(_ key: ConfigKey, or unset: Duration) throws(ConfigurationProblem) -> Duration {
            guard let seconds = double(forKey: key) else {
                guard string(forKey: key) == nil else { throw .init("\(key)", "it must be a number of seconds") }
                return unset
            }
            guard (0...86_400).contains(seconds) else {
                throw .init("\(key)", "it must be 0 to 86400 seconds, not \(seconds)")
            }
            return .seconds(seconds)
        }
    }
#endif
