import Foundation
import TestSupport

extension Executable {
    /// Runs it on a terminal without colours until it ends; the arguments must be plain words.
    func runOnTerminal(_ arguments: [String], columns: Int, on server: RedisServer) async throws -> Output {
        try await runOnTerminal(arguments, columns: columns, environment: ["ERRAND_REDIS_URL": server.url])
    }

    /// Runs it on a terminal without colours until it ends.
    func runOnTerminal(_ arguments: [String], columns: Int, environment: [String: String]) async throws -> Output {
        let terminal = ["TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "\(columns)"]
        let running = try RunningExecutable(
            self,
            arguments,
            environment: environment.merging(terminal) { $1 },
            onTerminal: true
        )
        let output = await running.end()
        let text = output.text.replacing("\r\n", with: "\n").replacing(/\u{1B}\[[0-9;]*m/, with: "")
        return Output(status: output.status, bytes: Array(text.utf8), error: output.error)
    }
}
