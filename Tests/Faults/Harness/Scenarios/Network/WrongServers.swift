import Errand
import Foundation
import TestSupport

/// Servers that the executables cannot use.
extension Scenario {
    static let wrongServers = [
        Scenario("F32", "the server at the address is not a suitable primary", quick: true) { context in
            try context.server()
            let catalogue = context.directory + "/catalogue.yaml"
            try Data("operations: {mark: {run: ['true']}}\n".utf8).write(to: URL(fileURLWithPath: catalogue))
            let wrong = try WrongServer.all(context)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for server in wrong { group.addTask { try await server.isToldApart(context, catalogue) } }
                try await group.waitForAll()
            }
            try await context.worker()
            try await context.push(1, "mark")
        }
    ]
}

/// A wrong server, and the expected errors of the executables.
private struct WrongServer: Sendable {
    let name: String
    let url: String
    /// The exit status of producer and console.
    let status: Int32
    /// The exit status of a worker; `nil` if it must wait.
    var worker: Int32?
    /// The text that the error must contain.
    let word: String
    /// Whether the console can read from it.
    var canBeRead = false

    static func all(_ context: ScenarioContext) throws -> [WrongServer] {
        let http = try silent(context, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        let tls = try silent(context, "\u{15}\u{3}\u{3}\0\u{2}\u{2}F")
        let noScripts = ["--rename-command", "EVAL", "", "--rename-command", "EVALSHA", ""]
        let scriptless = try context.server(tcp: true, noScripts).tcpURL
        let mute = try context.proxy(context.server())
        mute.cut(true)
        let locked = try context.server(tcp: true, ["--requirepass", "sesame"])
        let replica = try context.server(tcp: true, ["--replicaof", "127.0.0.1 1"])
        let nobody = try FreePorts.next()
        let wrongPassword = "redis://:wrong@127.0.0.1:\(locked.port)"
        return [
            .init(name: "an HTTP server", url: http, status: 69, word: "Protocol error"),
            .init(name: "a server that speaks TLS", url: tls, status: 69, word: "no greeting"),
            .init(
                name: "a server without scripts",
                url: scriptless,
                status: 78,
                worker: 78,
                word: "unknown command",
                canBeRead: true
            ),
            .init(name: "a server that says nothing", url: mute.url, status: 69, word: "no answer in time"),
            .init(name: "one without our password", url: locked.tcpURL, status: 77, worker: 77, word: "NOAUTH"),
            .init(name: "one with another password", url: wrongPassword, status: 77, worker: 77, word: "WRONGPASS"),
            .init(name: "a replica", url: replica.tcpURL, status: 69, word: "READONLY", canBeRead: true),
            .init(name: "nobody", url: "redis://127.0.0.1:\(nobody)", status: 69, word: "refused"),
        ]
    }

    private static func silent(_ context: ScenarioContext, _ answer: String) throws -> String {
        let server = try SilentServer(answer: answer)
        context.atEnd { withExtendedLifetime(server) {} }
        return "redis://127.0.0.1:\(server.port)"
    }

    /// Checks that every executable reports the problem, and ends or waits as expected.
    func isToldApart(_ context: ScenarioContext, _ catalogue: String) async throws {
        let worker = try context.command("errand-worker", ["--catalogue", catalogue, "--redis", url])
        let producer = try context.command("errand-producer", ["push", "mark", "--redis", url])
        let console = try context.command("errand", ["status", "--redis", url])
        let pushed = try await producer.end(within: .seconds(90))
        check(context, "errand-producer", producer, pushed, status)
        let shown = try await console.end(within: .seconds(90))
        if canBeRead {
            context.expect(shown == 0, "errand status of \(name) ended with \(shown): \(console.lines.suffix(2))")
        } else {
            check(context, "errand", console, shown, status)
        }
        try await checkWorker(context, worker)
        context.injected()
    }

    private func checkWorker(_ context: ScenarioContext, _ program: Program) async throws {
        if let worker {
            return check(context, "errand-worker", program, try await program.end(within: .seconds(60)), worker)
        }
        try await eventually("errand-worker says what is wrong with \(name): \(program.lines)") {
            program.lines.contains { $0.contains(word) }
        }
        program.signal(SIGTERM)
        let left = try await program.end(within: .seconds(40))
        context.expect(left == 0, "errand-worker left \(name) with \(left): \(program.lines.suffix(2))")
    }

    private func check(_ context: ScenarioContext, _ who: String, _ program: Program, _ got: Int32, _ expected: Int32) {
        let lines = program.lines
        context.expect(got == expected, "\(who) at \(name) ended with \(got), not \(expected): \(lines.suffix(2))")
        context.expect(lines.contains { $0.contains(word) }, "\(who) does not say '\(word)' of \(name): \(lines)")
        context.expect(!lines.contains { $0.contains("sesame") || $0.contains("wrong@") }, "\(who) shows a password")
    }
}
