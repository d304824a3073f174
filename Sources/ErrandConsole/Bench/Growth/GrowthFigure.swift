import ErrandOperator
import Foundation

/// A figure that may change with the load; the raw value is its name for programs.
enum GrowthFigure: String, CaseIterable, Sendable {
    /// Microseconds per job of a bulk push.
    case push = "push_us"
    /// Microseconds per job of a drain.
    case drain = "drain_us"
    /// Microseconds of the server's processor per job of a drain.
    case server = "server_us"
    /// Bytes of the server's memory per waiting job.
    case bytes = "bytes_per_waiting_job"
    /// Commands per second that idle workers send to the server.
    case idle = "idle_commands_per_s"

    /// The text for a heading.
    var title: String {
        switch self {
        case .push: "push"
        case .drain: "drain"
        case .server: "server, drain"
        case .bytes: "memory a waiting job"
        case .idle: "commands while idle"
        }
    }

    /// Formats a value for people.
    func text(_ value: Double) -> String {
        switch self {
        case .push, .drain, .server: String(format: "%.2f µs", value)
        case .bytes: String(format: "%.0f B", value)
        case .idle: String(format: "%.1f/s", value)
        }
    }

    /// Formats a value for programs.
    func json(_ value: Double) -> JSONOutput {
        self == .bytes ? .count(Int(value.rounded())) : .written(Array(String(format: "%.3f", value).utf8))
    }
}
