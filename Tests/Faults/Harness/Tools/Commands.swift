import Errand
import Foundation
import TestSupport

extension ScenarioContext {
    /// Starts one of the executables that people run, in a network of its own if wished.
    func command(_ name: String, _ arguments: [String], in network: NetworkNamespace? = nil) throws -> Program {
        // No broker may be meant but the one that is named.
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
    /// Whether nothing waits and nothing runs.
    var isEmpty: Bool { ready + running + scheduled + retrying + deferred == 0 }
}

extension Program {
    /// Whether it runs, and what it wrote last, for whoever has to find out what went wrong.
    var account: String {
        (status.map { "ended with \($0)" } ?? "runs") + ", and wrote \(lines.count) lines, in the end: "
            + lines.suffix(6).joined(separator: " | ")
    }
}
