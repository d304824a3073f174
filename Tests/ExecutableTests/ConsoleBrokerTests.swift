import Foundation
import TestSupport
import Testing

/// What the console says about its broker.
@Suite struct ConsoleBrokerTests {
    @Test func `a broker that was named is not repeated`() async throws {
        let server = try RedisServer()
        #expect(try await Executable.console.run(["status"], on: server).error.isEmpty)
        #expect(try await Executable.console.run(["status", "--redis", server.url]).error.isEmpty)
    }

    @Test func `the embedded broker is named if nothing else was`() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let silent = try await Executable.console.run(["status", "--embedded", directory])
        #expect(silent.status == 0 && silent.error.isEmpty, "\(silent.error)")
        let output = try await Executable.console.run(["status"], environment: ["ERRAND_HOME": directory])
        #expect(output.status == 0)
        #expect(output.error == "broker: embedded, \(directory)\n")
    }

    @Test(arguments: ["REDIS_URL", "ERRAND_REDIS_URL"])
    func `a bad URL is named with the variable that has it`(name: String) async throws {
        let output = try await Executable.console.run(["status"], environment: [name: "ftp://host"])
        #expect(output.status == 78)
        #expect(output.error.contains("$\(name): bad broker URL: "), "\(output.error)")
    }

    #if os(Linux)
        @Test func `a terminal shows what a command waits for`() async throws {
            let url = "redis://127.0.0.1:\(try FreePorts.next())"
            let environment = ["ERRAND_REDIS_URL": url]
            let terminal = try await Executable.console.runOnTerminal(["status"], columns: 80, environment: environment)
            #expect(terminal.status == 69)
            #expect(terminal.text.contains("waiting for \(url)"), "\(terminal.text)")
            let pipe = try await Executable.console.run(["status"], environment: environment)
            #expect(!pipe.error.contains("waiting for \(url)"), "\(pipe.error)")
            let server = try RedisServer()
            let quick = try await Executable.console.runOnTerminal(["status"], columns: 80, on: server)
            #expect(!quick.text.contains("waiting for"), "\(quick.text)")
        }
    #endif

    @Test func `the benchmark says how long it takes`() async throws {
        let server = try RedisServer()
        let arguments = ["bench", "--only", "push", "--jobs", "1000", "--runs", "1", "--json"]
        let output = try await Executable.console.run(arguments, on: server)
        #expect(output.status == 0, "\(output.error)")
        #expect(output.error.contains(/about [0-9]+ s for [34] measurements \(runs: 1\)\n/), "\(output.error)")
    }
}
