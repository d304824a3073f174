import Errand
import Foundation

struct SendEmail: JobParameters {
    static let jobName = "email.send"
    static let jobDefaults = JobDefaults(
        queue: "mail",
        timeout: .seconds(30),
        retries: 5,
        uniqueness: .drop(by: "to", "template")
    )

    let to: String
    let template: String
}

struct Thumbnail: JobParameters {
    static let jobName = "thumbnail"
    let path: String

    struct Size: Codable, Sendable {
        let width: Int
        let height: Int
    }
}

struct Greet: Job {
    static let jobName = "greet"
    let name: String

    func execute(context: JobContext) async throws {
        print("Hello, \(name)!")
    }
}

struct Invoice: JobParameters {
    static let jobName = "invoice.create"
    static let jobAliases = ["create-invoice"]
    static let jobVersion = 2

    let customer: String
    let cents: Int

    init(upgrading arguments: JSONText, from version: Int) throws {
        struct First: Decodable {
            let customer: String
            let euros: Int
        }
        let first = try arguments.decode(First.self)
        (customer, cents) = (first.customer, first.euros * 100)
    }
}

func pushing(_ producer: Producer, _ addresses: [String]) async throws {
    try await producer.push(SendEmail(to: "ada@example.org", template: "welcome"))
    try await producer.push(
        SendEmail(to: "ada@example.org", template: "reminder"),
        options: PushOptions(delay: .seconds(600), priority: 9)
    )
    try await producer.push(contentsOf: addresses.map { SendEmail(to: $0, template: "news") })
}

struct Archive: JobParameters {
    static let jobName = "archive"
    static let jobDefaults = JobDefaults(retries: 8, backoff: RetryDelays(base: .seconds(30), longest: .seconds(7200)))
    let path: String
}

func patiently(_ producer: Producer) async throws {
    try await producer.push(Archive(path: "a.jpg"), options: PushOptions(backoff: RetryDelays(base: .seconds(5))))
}

func pushingUntilKnown(_ producer: Producer) async throws {
    var receipt = try await producer.push(SendEmail(to: "ada@example.org", template: "invoice"))
    while receipt.outcome == .unknown {
        receipt = try await producer.push(
            SendEmail(to: "ada@example.org", template: "invoice"),
            options: PushOptions(id: receipt.id)
        )
    }
}

func awaiting(_ producer: Producer) async throws {
    let receipt = try await producer.push(Thumbnail(path: "a.jpg"))
    let size = try await producer.result(of: receipt, as: Thumbnail.Size.self, within: .seconds(90))
    print(size.width, size.height)
}

func listening(_ broker: any Broker) async throws {
    for try await event in broker.events(queue: "mail") where event.kind == .dead {
        print("\(event.operation ?? "a job") was given up: \(event.error ?? "")")
    }
}
