#if ConfigurationSupport
    public import Configuration

    extension WorkerConfiguration {
        /// Reads a configuration: from the environment, files, or whatever else the reader's providers are.
        ///
        /// ```swift
        /// let config = ConfigReader(provider: EnvironmentVariablesProvider()).scoped(to: "errand")
        /// let worker = Worker(broker: try RedisBroker(config: config), configuration: try WorkerConfiguration(config: config))
        /// ```
        ///
        /// With that, the environment's keys are those in brackets; what is not set has the default of the other initializer.
        ///
        /// | key | what it sets |
        /// |---|---|
        /// | `queues` (`ERRAND_QUEUES`) | names of queues, each with a weight if it likes: `mail:3,default` |
        /// | `concurrency` (`ERRAND_CONCURRENCY`) | how many jobs run at once |
        /// | `leaseSeconds` (`ERRAND_LEASE_SECONDS`) | how long claims live without a heartbeat |
        /// | `graceSeconds` (`ERRAND_GRACE_SECONDS`) | how long a graceful shutdown may take |
        /// | `longestWaitSeconds` (`ERRAND_LONGEST_WAIT_SECONDS`) | how long a claimed job may wait for a slot |
        /// | `stopGraceSeconds` (`ERRAND_STOP_GRACE_SECONDS`) | how long a run may take to stop |
        ///
        /// - Throws: ``ConfigurationProblem`` naming the key whose value cannot be used.
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
                stopGrace: try config.seconds("stopGraceSeconds", or: stopGrace)
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
                        "\"\(text)\" is not a queue: write mail, or mail:3 with a weight of 1 to 1000"
                    )
                }
                shares.append(QueueShare(String(parts[0]), weight: weight))
            }
            return shares
        }
    }

    /// What is wrong with a value that was configured.
    public struct ConfigurationProblem: Error, Sendable, Equatable, CustomStringConvertible {
        /// The key, as the reader was asked for it.
        public let key: String
        /// What is wrong and what to write, for people.
        public let reason: String

        init(_ key: String, _ reason: String) {
            self.key = key
            self.reason = reason
        }

        /// Key and reason.
        public var description: String { "configuration key \(key): \(reason)" }
    }

    extension ConfigReader {
        /// A value that is there but is no number must not be taken for one that is not there.
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
