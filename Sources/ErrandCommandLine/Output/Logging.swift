import ArgumentParser
import Errand
import ErrandOperator
import Foundation
package import Logging

/// The loggers of the executables.
package enum CommandLogger {
    /// Makes a logger that writes to standard error; only warnings unless `verbose`.
    package static func make(_ label: String, verbose: Bool = false, format: LogFormat = .text) -> Logger {
        make(label, level: verbose ? .debug : .warning, format: format)
    }

    /// Makes a logger that writes to standard error.
    package static func make(_ label: String, level: Logger.Level, format: LogFormat) -> Logger {
        var logger = Logger(label: label) { label in
            switch format {
            case .text: StreamLogHandler(label: label, stream: LogStream())
            case .json: JSONLogHandler(label: label)
            }
        }
        logger.logLevel = level
        return logger
    }
}

/// The format of a log.
package enum LogFormat: String, Sendable, CaseIterable, ExpressibleByArgument {
    /// Text for people.
    case text
    /// One JSON object a line, for programs.
    case json
}

/// Standard error as the stream of a log.
private struct LogStream: TextOutputStream, Sendable {
    mutating func write(_ entry: String) { StandardError.write(raw: entry) }
}

/// Writes each entry of a log as a JSON object on its own line.
struct JSONLogHandler: LogHandler {
    let label: String
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(label: String) { self.label = label }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata
        if let provided = metadataProvider?.get() { fields.merge(provided) { $1 } }
        if let own = event.metadata { fields.merge(own) { $1 } }
        var members: [(key: String, value: JSONOutput)] = []
        if let error = event.error { members.append(("error", .text("\(error)"))) }
        for (key, value) in fields.sorted(by: { $0.key < $1.key }) { members.append((key, .text("\(value)"))) }
        StandardError.write(raw: Self.entry(event.level, label, "\(event.message)", members))
    }

    /// Returns an entry with its line feed.
    static func entry(
        _ level: Logger.Level,
        _ label: String,
        _ message: String,
        _ more: [(key: String, value: JSONOutput)] = []
    ) -> String {
        let members: [(key: String, value: JSONOutput)] = [
            ("time", .text(Timestamp.text(Int64(Date().timeIntervalSince1970 * 1000)))),
            ("level", .text(level.rawValue)), ("label", .text(label)), ("message", .text(message)),
        ]
        return String(decoding: JSONOutput.object(members + more).bytes, as: UTF8.self) + "\n"
    }
}
