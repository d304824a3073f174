package import ArgumentParser
package import Errand
import ErrandCatalogue

/// An error that ends an executable: a message for standard error, and an exit status.
package struct CommandFailure: Error, CustomStringConvertible, Sendable {
    /// The problem, its position, and the remedy.
    package let message: String
    /// The exit status.
    package let status: ExitCode

    /// Makes a failure.
    package init(_ message: String, _ status: ExitCode) {
        self.message = message
        self.status = status
    }

    /// Makes a failure from a broker's error; its code determines the status.
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

    /// Makes a failure from an error; `nil` for an error that commands do not report this way.
    package init?(reporting error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as BrokerError: self.init(error)
        case let error as CatalogueError: self.init("\(error)", ExitStatus.badConfiguration)
        case let error as DescriptionError: self.init("\(error)", ExitStatus.badInput)
        case let error as WorkflowError: self.init("\(error)", ExitStatus.badInput)
        case let error as WorkflowFileError: self.init("\(error)", ExitStatus.badInput)
        default: return nil
        }
    }

    /// The message.
    package var description: String { message }
}

/// Runs a command's body, and reports a failure on standard error with its exit status.
package func reportingFailures<Value>(_ body: () async throws -> Value) async throws -> Value {
    do { return try await body() } catch {
        guard let failure = CommandFailure(reporting: error) else { throw error }
        throw failure.written()
    }
}

extension CommandFailure {
    fileprivate func written() -> ExitCode {
        StandardError.write("error: \(message)")
        return status
    }
}
