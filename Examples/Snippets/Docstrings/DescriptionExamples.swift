import Errand
import ErrandRedis
import Logging

/// The examples in the documentation of descriptions, producers, schedules and brokers.
private func refused() {
    do {
        _ = try OperationDescription(json: #"{"operation":"thumbnail","priority":12}"#)
    } catch {
        print(error)  // invalid operation description: "priority" at byte 36: must be a whole number from 0 to 9, …
    }
}

private func texts() throws {
    struct Thumbnail: Codable {
        let path: String
    }
    let one: JSONText = ["path": "a.jpg", "sizes": [64, 256]]
    let two = try JSONText(encoding: Thumbnail(path: "a.jpg"))
    let three = try JSONText(validating: #"{"path":"a.jpg"}"#.utf8)
    let thumbnail = try three.decode(Thumbnail.self)
    print(one, two, thumbnail)
}

private func describing() throws -> OperationDescription {
    let description = try OperationDescription(
        "thumbnail",
        arguments: ["path": "a.jpg"],
        queue: "images",
        unique: .drop,
        timeout: .seconds(10)
    )
    return description
}

private func retrying() throws -> OperationDescription {
    let backoff = RetryDelays(base: .seconds(5), longest: .seconds(3600), jitter: 0.2)
    let job = try OperationDescription("mail", retries: 5, backoff: backoff)
    return job
}

private func untilStarted() throws -> OperationDescription {
    // However often the article changes, at most one job waits to index it; a change during a run is indexed by another run.
    let description = try OperationDescription("index", arguments: ["article": 7], unique: .drop, uniqueUntil: .started)
    return description
}

private func inMemory() async throws -> [Receipt] {
    let broker = MemoryBroker()
    let receipts = try await broker.push([try OperationDescription("greet").makeEnvelope()], to: "default")
    return receipts
}

private func onRedis() throws {
    let broker = try RedisBroker(url: "redis://127.0.0.1:6379")
    defer { broker.close() }
    print(broker)
}

private func producing(_ broker: any Broker) async throws -> Receipt {
    let producer = Producer(broker: broker)
    let description = try OperationDescription("thumbnail", arguments: ["path": "a.jpg"], unique: .drop)
    let receipt = try await producer.push(description)
    return receipt
}

private func schedules(
    _ broker: any WorkingBroker,
    _ operations: [RegisteredOperation],
    _ logger: Logger
) throws -> Worker {
    let report = try Schedule(
        "nightly-report",
        .cron("30 2 * * *", timeZone: "Europe/Berlin"),
        pushing: OperationDescription("report", queue: "reports"),
        overlap: .skip
    )
    let worker = Worker(broker: broker, operations: operations, schedules: [report], logger: logger)
    return worker
}

private func calendar() throws -> [ScheduleTiming] {
    let timings = [
        try ScheduleTiming.hourly(minute: 10),
        try .daily(hour: 2, minute: 30, timeZone: "Europe/Berlin"),
        try .weekly(day: .sunday, hour: 4),
        try .onDays([.monday, .thursday], hour: 9),
        try .monthly(date: 1),
        try .yearly(month: .december, date: 24, hour: 18),
    ]
    return timings
}

private func timings() throws -> [ScheduleTiming] {
    let nightly = try ScheduleTiming.cron("30 2 * * *", timeZone: "Europe/Berlin")
    let often = try ScheduleTiming.every(.seconds(90))
    return [nightly, often]
}
