package import ArgumentParser

/// The exit statuses of the executables, as in sysexits.
package enum ExitStatus {
    /// Done.
    package static let done = ExitCode(0)
    /// The job did not finish, or there are findings.
    package static let unsuccessful = ExitCode(1)
    /// Wrong usage.
    package static let usage = ExitCode(64)
    /// Bad input.
    package static let badInput = ExitCode(65)
    /// The broker cannot be reached, or accepts nothing more.
    package static let unavailable = ExitCode(69)
    /// A part of the process is stuck; restart it.
    package static let stuck = ExitCode(70)
    /// The output could not be written.
    package static let notWritten = ExitCode(74)
    /// The outcome is unknown: the reply was lost, or did not arrive in time.
    package static let unknown = ExitCode(75)
    /// Not permitted.
    package static let notPermitted = ExitCode(77)
    /// Bad configuration.
    package static let badConfiguration = ExitCode(78)
}
