package import Errand
import ErrandText

/// The words in which people wrote the values of a job: the options of a command, or the fields of a form. Errors in
/// these words do not name the keys of descriptions, which nobody wrote.
package struct ValueNames: Sendable {
    /// The words by the keys of descriptions and schedules.
    private let names: [String: String]

    /// Makes words from those of each key.
    package init(_ names: [String: String]) { self.names = names }

    /// The options of a command that pushes a job.
    package static let options = ValueNames([
        "operation": "the operation", "arguments": "the arguments", "queue": "--queue", "name": "--name",
        "unique": "--unique", "unique_until": "--unique-until", "window_ms": "--window", "at_most_ms": "--at-most",
        "timeout_ms": "--timeout", "not_before_ms": "--at", "expires_ms": "--expires", "retries": "--retries",
        "backoff": "--backoff", "priority": "--priority", "group": "--group", "cost": "--cost", "id": "--id",
        "tags": "--tag", "catch_up": "--catch-up", "catch_up_limit": "--catch-up-limit", "overlap": "--overlap",
        "revision": "--revision",
    ])

    /// Returns these words with others for some keys.
    package func replacing(_ others: [String: String]) -> ValueNames {
        ValueNames(names.merging(others) { _, other in other })
    }

    /// Returns what is wrong with a job in these words.
    package func explanation(of error: DescriptionError) -> String {
        guard let field = error.field, let name = names[String(field.prefix { $0 != "." })] else { return "\(error)" }
        return "\(name)\(Self.problem(of: field, named: name, error))"
    }

    /// Returns what is wrong with a schedule in these words.
    package func explanation(of error: ScheduleError) -> String {
        guard let name = error.field.flatMap({ names[$0] }) else { return "\(error)" }
        return "\(name): \(error.message)"
    }

    /// Returns the end of the sentence that begins with a value's name.
    private static func problem(of field: String, named name: String, _ error: DescriptionError) -> String {
        let longest = DurationText.format(.milliseconds(DescriptionLimits.timeoutMilliseconds.upperBound))
        return switch field {
        case "window_ms" where error.code == .missingKey:
            " is missing: the policies throttle and debounce need it, such as \(name) 5s"
        case "timeout_ms", "expires_ms", "window_ms", "at_most_ms": " is too long: at most \(longest) is allowed"
        case "not_before_ms":
            " is too late: at most \(Timestamp.text(DescriptionLimits.notBeforeMilliseconds.upperBound)) is allowed"
        case "backoff.base_ms": ": the first wait is too long: at most \(longest) is allowed"
        case "backoff.longest_ms":
            ": the longest wait must be at most \(longest), and not shorter than the first"
        case "backoff.jitter": ": the jitter \(error.message)"
        case "tags": ": at most \(DescriptionLimits.tags) tags of 1 to \(DescriptionLimits.tagBytes) bytes are allowed"
        default: " \(error.message)"
        }
    }
}
