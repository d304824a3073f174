import Errand
import Foundation
import TestSupport

extension ScenarioContext {
    /// Starts one of the executables, optionally in a network of its own.
    func command(_ name: String, _ arguments: [String], in network: NetworkNamespace? = nil) throws -> Program {
        // Only the given broker may be used.
        let environment = ["ERRAND_REDIS_URL": "", "REDIS_URL": "", "ERRAND_HOME": directory + "/home"]
        guard let network else { return try program(name, arguments, environment: environment) }
        return try program(
            "/usr/bin/env",
            network.prefix + [Program.path(of: name)] + arguments,
            environment: environment
        )
    }
}

extension QueueStatus {
    /// Whether no job waits or runs.
    var isEmpty: Bool { ready + running + scheduled + retrying + deferred == 0 }
}

extension Program {
    /// Whether it runs, and its last output, for the analysis of failures.
    var account: String {
        (status.map { "ended with \($0)" } ?? "runs") + ", and wrote \(lines.count) lines, in the end: "
            + lines.suffix(6).joined(separator: " | ")
    }
}
