import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand schedule next`.
struct ScheduleNextCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "next",
        abstract: "Prints the coming ticks of a schedule, or of an expression that is not stored.",
        discussion: """
            Each tick is printed in the schedule's time zone and in UTC. An expression needs no broker.

            Examples:
              errand schedule next nightly --queue reports
              errand schedule next --cron "30 2 * * *" --time-zone Europe/Berlin --count 10
            """
    )

    @Argument(help: ArgumentHelp("The schedule.", valueName: "name"))
    var name: String?

    @OptionGroup var timing: TimingOptions

    @Option(help: "The number of ticks, 1 to 1000.")
    var count = 10

    @Option(help: ArgumentHelp("Start after this time instead of now.", valueName: "iso8601"))
    var after: String?

    @OptionGroup var place: ScheduleQueueOptions

    func validate() throws {
        let isNamed = name != nil
        let isTried = try timing.timing() != nil
        guard isNamed != isTried else {
            throw ValidationError("name a schedule, or give --cron or --every, but not both")
        }
        if let name { try ScheduleRule.check(name) }
        guard (1...1000).contains(count) else { throw ValidationError("--count must be 1 to 1000") }
        do { _ = try after.map { try Timestamp.parse($0) } } catch { throw ValidationError("--after: \(error)") }
    }

    func run() async throws {
        let start = try after.map { try Timestamp.parse($0) }
        if let timing = try timing.timing() { return tell(timing, after: start ?? MemoryBroker.systemTime()) }
        guard let name else { return }
        try await place.options.withBroker { broker in
            try await broker.checkExists(place.queue)
            guard let record = try await broker.schedule(name, on: place.queue) else {
                throw CommandFailure("queue \(place.queue) has no schedule \"\(name)\"", ExitStatus.unsuccessful)
            }
            guard let schedule = record.schedule else {
                throw CommandFailure(
                    record.problem?.description ?? "the schedule cannot be read",
                    ExitStatus.unsuccessful
                )
            }
            if record.isPaused { StandardError.write("note: the schedule is paused") }
            tell(schedule.timing, after: try await time(start, broker))
        }
    }

    private func time(_ start: Int64?, _ broker: RedisBroker) async throws -> Int64 {
        if let start { return start }
        return try await broker.now(on: place.queue)
    }

    private func tell(_ timing: ScheduleTiming, after start: Int64) {
        var ticks: [Int64] = []
        var last = start
        while ticks.count < count, let next = timing.next(after: last) {
            ticks.append(next)
            last = next
        }
        if place.options.json { return StandardOutput.write(json(timing, ticks).bytes) }
        for tick in ticks { StandardOutput.write("\(timing.localText(tick))  \(Timestamp.text(tick))") }
    }

    private func json(_ timing: ScheduleTiming, _ ticks: [Int64]) -> JSONOutput {
        [
            "timing": .text(timing.description), "every_ms": .number(orNull: timing.interval),
            "time_zone": .text(timing.timeZone),
            "ticks": .list(
                ticks.map {
                    ["at_ms": .number($0), "local": .text(timing.localText($0)), "utc": .text(Timestamp.text($0))]
                }
            ),
        ]
    }
}
