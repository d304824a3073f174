import ErrandOperator
import Foundation

/// What is measured while something grows; the raw value is its name for programs.
enum GrowthFigure: String, CaseIterable, Sendable {
    /// Microseconds a job of a bulk push.
    case push = "push_us"
    /// Microseconds a job of a drain.
    case drain = "drain_us"
    /// Microseconds of the server's processor a job of a drain.
    case server = "server_us"
    /// Bytes of the server's memory a waiting job.
    case bytes = "bytes_per_waiting_job"
    /// Commands a second that the server gets from workers that have nothing to do.
    case idle = "idle_commands_per_s"

    /// For a heading.
    var title: String {
        switch self {
        case .push: "push"
        case .drain: "drain"
        case .server: "server, drain"
        case .bytes: "memory a waiting job"
        case .idle: "commands while idle"
        }
    }

    /// A value for people.
    func text(_ value: Double) -> String {
        switch self {
        case .push, .drain, .server: String(format: "%.2f µs", value)
        case .bytes: String(format: "%.0f B", value)
        case .idle: String(format: "%.1f/s", value)
        }
    }

    /// A value for programs.
    func json(_ value: Double) -> JSONOutput {
        self == .bytes ? .count(Int(value.rounded())) : .written(Array(String(format: "%.3f", value).utf8))
    }
}
