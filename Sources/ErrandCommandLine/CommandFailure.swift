package import ArgumentParser
package import Errand
import Foundation

/// An error that ends an executable: a sentence for standard error and an exit status.
package struct CommandFailure: Error, CustomStringConvertible, Sendable {
    /// What was wrong, where, and what to do.
    package let message: String
    /// The exit status.
    package let status: ExitCode

    /// Makes a failure.
    package init(_ message: String, _ status: ExitCode) {
        self.message = message
        self.status = status
    }

    /// Tells a broker's error by its kind.
    package init(_ error: BrokerError) {
        message = error.message
        status =
            switch error.code {
            case .notReachable, .full, .sessionLost, .protocolViolation, .closed: ExitStatus.unavailable
            case .outcomeUnknown: ExitStatus.unknown
            case .notPermitted: ExitStatus.notPermitted
            case .queueNotFound: ExitStatus.unsuccessful
            default: ExitStatus.badConfiguration
            }
    }

    /// Tells an error by its kind; `nil` for one that commands do not report in this way.
    package init?(reporting error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as BrokerError: self.init(error)
        case let error as DescriptionError: self.init("\(error)", ExitStatus.badInput)
        default: return nil
        }
    }

    /// The message.
    package var description: String { message }
}

/// Runs a command's body; any failure is told on standard error, with its exit status.
package func reportingFailures<Value>(_ body: () async throws -> Value) async throws -> Value {
    do { return try await body() } catch {
        guard let failure = CommandFailure(reporting: error) else { throw error }
        throw failure.told()
    }
}

extension CommandFailure {
    fileprivate func told() -> ExitCode {
        StandardError.write("error: \(message)")
        return status
    }
}
