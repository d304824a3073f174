#if ConfigurationSupport
    import Configuration
    import Errand
    import ErrandRedis
    import Testing

    /// Settings from the environment or from other providers of a reader.
    @Suite struct ConfigurationTests {
        private func config(_ environment: [String: String]) -> ConfigReader {
            ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: environment)).scoped(to: "errand")
        }

        @Test func `the environment configures a worker`() throws {
            let settings = try WorkerConfiguration(
                config: config([
                    "ERRAND_QUEUES": "mail:3,default", "ERRAND_CONCURRENCY": "32", "ERRAND_LEASE_SECONDS": "2.5",
                    "ERRAND_GRACE_SECONDS": "10", "ERRAND_LONGEST_WAIT_SECONDS": "1",
                    "ERRAND_STOP_GRACE_SECONDS": "0.5", "ERRAND_VERSION": "v7",
                ])
            )
            #expect(settings.queues == [.init("mail", weight: 3), .init("default")])
            #expect(settings.concurrency == 32)
            #expect(settings.mostOverruns == 64)
            #expect(settings.lease == .milliseconds(2500))
            #expect(settings.grace == .seconds(10))
            #expect(settings.longestWait == .seconds(1))
            #expect(settings.stopGrace == .milliseconds(500) && settings.version == "v7")
        }

        @Test func `what is not set has its default`() throws {
            let settings = try WorkerConfiguration(config: config([:]))
            let usual = WorkerConfiguration()
            #expect(settings.queues == usual.queues)
            #expect(settings.concurrency == usual.concurrency)
            #expect(settings.lease == usual.lease)
            #expect(settings.grace == usual.grace)
        }

        @Test(arguments: [
            ("ERRAND_QUEUES", "a b", "queues"), ("ERRAND_QUEUES", "mail:0", "queues"),
            ("ERRAND_QUEUES", "mail:1:2", "queues"), ("ERRAND_CONCURRENCY", "many", "concurrency"),
            ("ERRAND_CONCURRENCY", "0", "concurrency"), ("ERRAND_LEASE_SECONDS", "30s", "leaseSeconds"),
            ("ERRAND_LEASE_SECONDS", "-1", "leaseSeconds"), ("ERRAND_GRACE_SECONDS", "inf", "graceSeconds"),
        ])
        func `a wrong value is rejected with its key`(name: String, value: String, key: String) throws {
            #expect { try WorkerConfiguration(config: config([name: value])) } throws: { error in
                (error as? ConfigurationProblem)?.key == key
            }
        }

        @Test func `the broker's address is a secret`() throws {
            let broker = try RedisBroker(config: config(["ERRAND_REDIS_URL": "redis://:secret@127.0.0.1:1"]))
            broker.close()
            #expect { try RedisBroker(config: config(["ERRAND_REDIS_URL": "http://secret@nowhere"])) } throws: {
                error in
                (error as? BrokerError)?.code == .refused && !"\(error)".contains("secret")
            }
        }

        @Test(arguments: [[:], ["ERRAND_REDIS_URL": ""]])
        func `no address is no broker`(_ environment: [String: String]) {
            #expect { try RedisBroker(config: config(environment)) } throws: { error in
                (error as? BrokerError)?.code == .refused && "\(error)".contains("ERRAND_REDIS_URL")
            }
        }
    }
#endif
