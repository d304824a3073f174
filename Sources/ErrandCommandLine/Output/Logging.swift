package import Logging

/// The loggers of the executables.
package enum CommandLogger {
    /// A logger that writes to standard error; warnings only unless `verbose`.
    package static func make(_ label: String, verbose: Bool = false) -> Logger {
        var logger = Logger(label: label) { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = verbose ? .debug : .warning
        return logger
    }
}
