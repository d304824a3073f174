import Configuration
import Errand
import ErrandRedis
import Hummingbird
import Logging
import ServiceLifecycle
import UnixSignals

/// A web service and its worker in one process. To run them on different machines, give each a program of its own with its
/// half of this one.
@main
struct WebService {
    static func main() async throws {
        let config = ConfigReader(provider: EnvironmentVariablesProvider())
        let logger = Logger(label: "web-service")
        let broker = try RedisBroker(config: config.scoped(to: "errand"), logger: logger)
        defer { broker.close() }
        // One token for the example; a real service has its own users.
        let users = [try config.requiredString(forKey: "token", isSecret: true): "ada"]

        let router = Router(context: UserContext.self)
        router.add(middleware: UserAuthentication(users: users))
        ReportRoutes(reports: Reports(producer: Producer(broker: broker))).add(to: router)
        let web = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: config.int(forKey: "port", default: 8080))),
            onServerRunning: { channel in
                logger.info("serving", metadata: ["port": "\(channel.localAddress?.port ?? 0)"])
            },
            logger: logger
        )
        // At SIGTERM the group stops the server first, which ends its requests, and then the worker, which ends its jobs.
        let group = ServiceGroup(
            services: [makeWorker(broker, logger), web],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        try await group.run()
    }

    static func makeWorker(_ broker: any WorkingBroker, _ logger: Logger) -> Worker {
        let worker = Worker(broker: broker, logger: logger)
        worker.registerJob(parameters: MakeReport.self) { job, context in try await job.make(context) }
        return worker
    }
}
