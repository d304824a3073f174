import Errand
import ErrandRedis
import Foundation

struct Email: Job {
    static let jobName = "EmailJob"
    let to: String
    let message: String

    func execute(context: JobContext) async throws {
        print("\(message), \(to)!")
    }
}

let redis = ProcessInfo.processInfo.environment["REDIS_URL"] ?? "redis://127.0.0.1:6379"
let broker = try RedisBroker(url: redis)
let producer = Producer(broker: broker)

let worker = Worker(broker: broker)
worker.registerJob(Email.self, retryStrategy: RetryDelays(base: .seconds(1), longest: .seconds(1), jitter: 0))

try await producer.push(Email(to: "Ellen", message: "Hello"), options: .init(retries: 3))
try await producer.push(Email(to: "Ellen", message: "Bye"), options: .init(delayUntil: Date() + 1, retries: 3))

try await worker.runUntilTerminated()
