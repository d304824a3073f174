import Configuration
import Errand
import ErrandRedis
import Foundation
import Logging

/// The examples in the documentation of typed jobs, workers and their settings.
private enum Images {
    struct Thumbnail: JobParameters {
        static let jobName = "thumbnail"
        let path: String
    }

    struct ImageInfo: Decodable, Sendable {
        let width: Int
    }

    static func result(_ producer: Producer) async throws -> ImageInfo {
        let receipt = try await producer.push(Thumbnail(path: "a.jpg"))
        let image = try await producer.result(of: receipt).decode(as: ImageInfo.self)
        return image
    }

    static func progress(_ stored: Data, _ producer: Producer) async throws -> Double? {
        let receipt = try JSONDecoder().decode(Receipt.self, from: stored)
        guard let job = try await producer.job(receipt) else { return nil }
        return job.state == .finished ? 1 : job.progress?.fraction
    }

    static func follow(_ receipt: Receipt, _ producer: Producer) async throws {
        for try await job in producer.updates(of: receipt) {
            print(job.state, job.progress?.fraction ?? 0)
        }
    }

    struct Photo: Decodable {
        let path: String
    }

    @Sendable static func shrink(_ photo: Photo) throws {}

    static func ordinary() -> RegisteredOperation {
        RegisteredOperation("thumbnail") { job in try shrink(job.arguments.decode(Photo.self)) }
    }
}

private struct SendDigest: JobParameters {
    static let jobName = "digest"
}

private func scheduled() throws -> Schedule {
    let digest = try Schedule("digest", .weekly(day: .monday, hour: 8), pushing: SendDigest(), overlap: .skip)
    return digest
}

private struct InvalidAddress: Error {}

struct NightlyOnly: JobRetryStrategy {
    func shouldRetry(attempt: Int, error: any Error) -> Bool { !(error is InvalidAddress) }
    func calculateBackoff(attempt: Int) -> Duration { .seconds(3600) }
}

private func shortest(_ worker: Worker, _ producer: Producer) async throws {
    struct Greet: Job {
        static let jobName = "greet"
        let name: String

        func execute(context: JobContext) async throws { print("Hello, \(name)!") }
    }

    worker.registerJob(Greet.self)
    try await producer.push(Greet(name: "Ada"))
}

private enum Mail {
    struct SendEmail: JobParameters {
        static let jobName = "email.send"
        static let jobDefaults = JobDefaults(queue: "mail", retries: 5, uniqueness: .drop(by: "to", "template"))

        let to: String
        let template: String
    }

    static func pushing(_ producer: Producer) async throws -> Receipt {
        let receipt = try await producer.push(SendEmail(to: "ada@example.org", template: "welcome"))
        return receipt
    }
}

private struct SendEmailV1: Decodable {
    let address: String
}

extension Mail.SendEmail {
    init(upgrading arguments: JSONText, from version: Int) throws {
        let old = try arguments.decode(SendEmailV1.self)
        self.init(to: old.address, template: "plain")
    }
}

private func uniqueness() -> [JobUniqueness] {
    let examples: [JobUniqueness] = [
        .drop,  // the same arguments: the newer job gives way
        .drop(by: "to"),  // the same recipient
        .replace(by: "document"),  // the newer job takes the older one's place
        .drop(by: \Document.id).untilStarted,  // at most one waits; others may run
        .replace(by: "document").readable,  // the job's name shows which one
    ]
    return examples
}

private enum Letters {
    struct SendEmail: JobParameters {
        static let jobName = "email.send"
        let to: String
    }

    static func options(_ producer: Producer) async throws {
        try await producer.push(SendEmail(to: "ada@example.org"), options: .init(delay: .seconds(600), priority: 9))
    }

    protocol Mailer: Sendable {
        func send(_ email: SendEmail) async throws
    }

    static func registering(_ worker: Worker, _ mailer: any Mailer) {
        worker.registerJob(parameters: SendEmail.self, retryStrategy: .exponentialJitter()) { email, context in
            context.logger.info("sending")
            try await mailer.send(email)
        }
    }
}

private func goingOn(_ job: JobContext, _ pages: Int) async throws {
    func render(page: Int) async throws {}
    var done = try await job.checkpoint(as: Int.self) ?? 0
    while done < pages {
        try await render(page: done)
        done += 1
        try await job.checkpoint(done)
    }
}

private enum Greetings {
    struct Greet: JobParameters {
        static let jobName = "greet"
        let name: String
    }

    static func working(_ broker: any WorkingBroker) async throws {
        let worker = Worker(broker: broker)
        worker.registerJob(parameters: Greet.self) { greet, context in print("Hello, \(greet.name)!") }
        try await worker.runUntilTerminated()
    }
}

private func configuring() throws -> Worker {
    let config = ConfigReader(provider: EnvironmentVariablesProvider()).scoped(to: "errand")
    let worker = Worker(broker: try RedisBroker(config: config), configuration: try WorkerConfiguration(config: config))
    return worker
}

private struct Document {
    let id: String
}
