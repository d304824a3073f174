import Errand
import ErrandRedis
import Logging
import ServiceLifecycle
import UnixSignals

func servingAlone() async throws {
    let worker = Worker(broker: try RedisBroker(url: "redis://127.0.0.1:6379"))
    worker.registerJob(Greet.self)
    try await worker.runUntilTerminated()
}

func servingAmongOthers(_ web: any Service, _ logger: Logger) async throws {
    let broker = try RedisBroker(url: "redis://127.0.0.1:6379", logger: logger)
    let worker = Worker(
        broker: broker,
        configuration: WorkerConfiguration(
            queues: [.init("mail", weight: 3), .init("images")],
            concurrency: 16,
            lease: .seconds(30),
            grace: .seconds(25)
        ),
        middleware: [TracingMiddleware(), MetricsMiddleware()],
        logger: logger
    )
    worker.registerJob(Greet.self)
    let group = ServiceGroup(services: [web, worker], gracefulShutdownSignals: [.sigterm], logger: logger)
    try await group.run()
}

struct NightlyReport: JobParameters {
    static let jobName = "report"
    static let jobDefaults = JobDefaults(queue: "reports")
    func write() async throws {}
}

func scheduling(_ broker: any Broker, _ logger: Logger) throws -> Worker {
    let nightly = try Schedule("nightly", .daily(hour: 3, timeZone: "Europe/Berlin"), pushing: NightlyReport())
    let worker = Worker(broker: broker, schedules: [nightly], logger: logger)
    worker.registerJob(parameters: NightlyReport.self) { report, context in try await report.write() }
    return worker
}
