import Errand
import ErrandRedis
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

struct SendEmail: JobParameters {
    static let jobName = "SendEmail"
    let to: String
    let subject: String
}

let logger = Logger(label: "emails")
let redis = ProcessInfo.processInfo.environment["REDIS_URL"] ?? "redis://127.0.0.1:6379"
let broker = try RedisBroker(url: redis, logger: logger)
let middleware: [any JobMiddleware] = [MetricsMiddleware(), TracingMiddleware()]
let producer = Producer(broker: broker, middleware: middleware)
let worker = Worker(broker: broker, configuration: .init(concurrency: 16), middleware: middleware, logger: logger)

worker.registerJob(parameters: SendEmail.self, retryStrategy: .exponentialJitter(maxAttempts: 4), timeout: .seconds(30))
{
    parameters,
    context in
    context.logger.info("sending")
    print("\(parameters.subject), \(parameters.to)!")
}

try await producer.push(SendEmail(to: "Ellen", subject: "Hello"))
try await producer.push(SendEmail(to: "Ellen", subject: "Bye"), options: .init(delayUntil: Date.now + 1))

let group = ServiceGroup(services: [worker], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
try await group.run()
