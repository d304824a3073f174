import Errand
import ErrandRedis
import Foundation
import TestSupport

/// A console that dies before or after a script for a queue or a schedule: a repeated command has the wanted effect.
extension Scenario {
    static let consoleCrashes = [
        Scenario(
            "F02c",
            "a console dies before and after each script for a queue or a schedule, and repeats its command",
            quick: true
        ) { context in
            // The revision of a deleted schedule stays.
            context.rules { $0.toleratedKeys = ["unscheduled"] }
            let server = try context.server()
            try server.learnScripts()
            try await context.console.createQueue(ScenarioContext.queue)
            for round in 0..<context.size(quick: 1, full: 10) {
                for isAfter in [false, true] {
                    try await steerQueue(context, server, isAfter: isAfter)
                    let console = SteeringConsole(
                        context: context,
                        server: server,
                        schedule: "crash-\(isAfter)-\(round)"
                    )
                    try await console.add(every: "1h", dyingAt: "timetable", isAfter: isAfter)
                    // A stored definition would not be stored again.
                    try await console.add(every: "2h", dyingAt: "schedule", isAfter: isAfter)
                    try await console.pause(isAfter: isAfter)
                    try await console.resume(isAfter: isAfter)
                    try await console.delete(isAfter: isAfter)
                }
            }
            try await context.push(5, "mark")
            try await context.worker()
        }
    ]

    private static func steerQueue(_ context: ScenarioContext, _ server: RedisServer, isAfter: Bool) async throws {
        for (verb, isPaused) in [("pause", true), ("resume", false)] {
            let status = try await dieAndRepeat(
                context,
                server,
                ["queue", verb, ScenarioContext.queue],
                at: "settings",
                isAfter: isAfter
            )
            context.expect(status == 0, "the repeated \(verb) of a queue ended with \(status)")
            let now = try await context.status().isPaused
            context.expect(now == isPaused, "after a repeated \(verb) the queue is \(now ? "" : "not ")paused")
        }
    }

    /// A console dies at a script, and its command is repeated.
    ///
    /// - Returns: The exit status of the second command.
    fileprivate static func dieAndRepeat(
        _ context: ScenarioContext,
        _ server: RedisServer,
        _ arguments: [String],
        at script: String,
        isAfter: Bool
    ) async throws -> Int32 {
        try await die(context, server, at: script, isAfter: isAfter) { url in
            try context.command("errand", arguments + ["--redis", url])
        }
        return try await context.command("errand", arguments + ["--redis", server.url]).end()
    }
}

/// Commands on one schedule, each given twice: the first time the console dies.
private struct SteeringConsole {
    let context: ScenarioContext
    let server: RedisServer
    let schedule: String

    func add(every interval: String, dyingAt script: String, isAfter: Bool) async throws {
        let arguments = [
            "schedule", "add", schedule, "mark", "{}", "--every", interval, "--queue", ScenarioContext.queue,
        ]
        let status = try await Scenario.dieAndRepeat(context, server, arguments, at: script, isAfter: isAfter)
        context.expect(status == 0, "the repeated command to add a schedule ended with \(status)")
        let record = try await record()
        context.expect(record?.nextTick != nil, "the added schedule is to tick at no time")
        let definition = String(decoding: record?.definition ?? [], as: UTF8.self)
        let milliseconds = interval == "1h" ? 3_600_000 : 7_200_000
        context.expect(definition.contains("\(milliseconds)"), "the added schedule is \(definition)")
    }

    func pause(isAfter: Bool) async throws {
        let status = try await act("pause", isAfter: isAfter)
        context.expect(status == 0, "the repeated pause of a schedule ended with \(status)")
        let record = try await record()
        context.expect(record?.isPaused == true && record?.nextTick == nil, "the paused schedule ticks")
    }

    func resume(isAfter: Bool) async throws {
        let status = try await act("resume", isAfter: isAfter)
        context.expect(status == 0, "the repeated resumption of a schedule ended with \(status)")
        let record = try await record()
        context.expect(record?.isPaused == false && record?.nextTick != nil, "the resumed schedule does not tick")
    }

    func delete(isAfter: Bool) async throws {
        let status = try await act("delete", isAfter: isAfter)
        // A deleted schedule cannot be deleted again, which the console reports.
        context.expect(status == (isAfter ? 1 : 0), "the repeated deletion of a schedule ended with \(status)")
        let record = try await record()
        context.expect(record == nil, "the deleted schedule is there")
    }

    private func act(_ verb: String, isAfter: Bool) async throws -> Int32 {
        let arguments = ["schedule", verb, schedule, "--queue", ScenarioContext.queue]
        return try await Scenario.dieAndRepeat(context, server, arguments, at: "unschedule", isAfter: isAfter)
    }

    private func record() async throws -> ScheduleRecord? {
        try await context.console.schedule(schedule, on: ScenarioContext.queue)
    }
}
