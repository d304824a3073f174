import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandText

/// The settings of a queue, as the command line spells them.
enum QueueSetting: String, CaseIterable, ExpressibleByArgument {
    case limit
    case events
    case starts
    case keepResults = "keep-results"
    case rememberIDs = "remember-ids"
}

/// The command `errand queue set`.
struct QueueSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Changes a setting of a queue; the value default resets it.",
        discussion: """
            limit         the largest number of jobs in the queue (default: 10,000,000)
            events        how many of the latest events the durable stream keeps, for errand events --after, webhooks \
            and programs (default: 0, at most 1,000,000)
            starts        on or off: whether the start of a job is an event (default: off)
            keep-results  how long results and histories are kept (default: 1d)
            remember-ids  how long the ids of ended jobs are remembered (default: 1m)

            Examples:
              errand queue set mail events 100000
              errand queue set mail keep-results 7d
            """
    )

    @OptionGroup var target: QueueArgument

    @Argument(help: ArgumentHelp("limit, events, starts, keep-results or remember-ids.", valueName: "setting"))
    var setting: QueueSetting

    @Argument(help: ArgumentHelp("A number, a duration such as 90s, on or off; or default.", valueName: "value"))
    var value: String

    func validate() throws { _ = try change() }

    func run() async throws {
        let json: JSONOutput = [
            "queue": .text(target.queue), "setting": .text(setting.rawValue), "value": .text(value),
        ]
        let words = "\(setting.rawValue) of \(target.queue) is now \(value)"
        try await target.configure(try change(), json: json, words: words)
    }

    private func change() throws -> QueueSettings {
        switch setting {
        case .limit: QueueSettings(maximumLength: try number(in: 1...1_000_000_000))
        case .events: QueueSettings(keptEvents: try number(in: 0...1_000_000))
        case .starts: QueueSettings(publishesStarts: try truth())
        case .keepResults: QueueSettings(keepHistoryMilliseconds: try milliseconds())
        case .rememberIDs: QueueSettings(rememberIDsMilliseconds: try milliseconds())
        }
    }

    private var isDefault: Bool { value == "default" }

    private func number(in range: ClosedRange<Int>) throws -> Int {
        if isDefault { return 0 }
        guard let number = Int(value), range.contains(number) else {
            throw ValidationError(
                "\(setting.rawValue) takes a number from \(range.lowerBound) to \(range.upperBound), or default"
            )
        }
        return number
    }

    private func truth() throws -> Bool {
        switch value {
        case "on": return true
        case "off", "default": return false
        default: throw ValidationError("\(setting.rawValue) takes on, off or default")
        }
    }

    private func milliseconds() throws -> Int {
        if isDefault { return 0 }
        let duration: Duration
        do { duration = try DurationText.parse(value) } catch { throw ValidationError("\(setting.rawValue): \(error)") }
        guard (.seconds(1) ... .seconds(31_536_000)).contains(duration) else {
            throw ValidationError("\(setting.rawValue) takes a duration from 1s to 365d, or default")
        }
        return duration.wholeMilliseconds
    }
}
