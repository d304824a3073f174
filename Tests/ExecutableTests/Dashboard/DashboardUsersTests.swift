import Foundation
import TestSupport
import Testing

/// Users of `errand-dashboard`: their permissions, and protection from guessing.
extension DashboardProgramTests {
    private func pause(_ port: Int, as user: String) throws -> Int {
        let headers = "Origin: http://localhost:\(port)\r\nContent-Length: 0\r\n"
        return try status(port, "/queues/images/pause", user: user, method: "POST", headers: headers)
    }

    private func createQueue() async throws {
        #expect(try await Executable.console.run(["queue", "create", "images"], on: server).status == 0)
    }

    private func end(_ program: RunningExecutable) async -> Output {
        program.signal(SIGTERM)
        return await program.end()
    }

    @Test func readersReadAndNeverAct() async throws {
        let users = try usersFile("ada:a\nprometheus:p\ngrafana:g\n")
        try await createQueue()
        let program = try start("--users", users, "--allow-actions", "--reader", "prometheus", "--reader", "grafana")
        let port = try await port(of: program)
        for reader in ["prometheus:p", "grafana:g"] {
            for path in ["/", "/jobs", "/metrics", "/scale?queue=images"] {
                #expect(try status(port, path, user: reader) == 200, "\(path) as \(reader)")
            }
            #expect(try pause(port, as: reader) == 403)
        }
        #expect(try pause(port, as: "ada:a") == 303)
        #expect(await end(program).status == 0)
    }

    @Test func withoutAFileThereIsAReader() async throws {
        let passwords = ["ERRAND_DASHBOARD_PASSWORD": "se:cret", "ERRAND_DASHBOARD_READER_PASSWORD": "scrape"]
        try await createQueue()
        let program = try start("--allow-actions", environment: passwords)
        let port = try await port(of: program)
        #expect(try status(port, "/metrics") == 401)
        #expect(try status(port, "/metrics", user: "reader:se:cret") == 401)
        #expect(try status(port, "/metrics", user: "reader:scrape") == 200)
        #expect(try pause(port, as: "reader:scrape") == 403)
        #expect(try pause(port, as: "errand:se:cret") == 303)
        #expect(await end(program).status == 0)
    }

    /// The user would otherwise be able to act.
    @Test func aReaderThatIsNoUserIsAnError() async throws {
        let users = try usersFile("prometheus:p\n")
        for arguments in [["--users", users, "--reader", "prometeus"], ["--reader", "prometheus"]] {
            let environment = ["ERRAND_REDIS_URL": server.url]
            let output = try await Executable.dashboard.run(["--port", "0"] + arguments, environment: environment)
            #expect(output.status == 78)
            #expect(output.error.contains("there is no such user"), "\(output.error)")
        }
    }

    @Test(.timeLimit(.minutes(3))) func guessingIsSlowAndLocksNobodyOut() async throws {
        let names = (0..<20).map { "hopper\($0)" }
        let users = try usersFile("lovelace:se:cret\n" + names.map { "\($0):right\n" }.joined())
        let program = try start("--users", users)
        let port = try await port(of: program)
        #expect(try status(port, user: "lovelace:se:cret") == 200)
        let begin = ContinuousClock.now
        var (wrong, right): ([Int32], [Int32]) = ([], [])
        // Throughout, so that some requests come while all attempts are in use.
        for name in names {
            for number in 0..<5 { wrong.append(try asked(port, user: "babbage:guess\(number)")) }
            right.append(try asked(port, user: "\(name):right"))
        }
        // A user that was logged in before is not affected.
        #expect(try status(port, user: "lovelace:se:cret") == 200)
        let answers = try wrong.map { try status(of: $0) }
        let looked = answers.count { $0 == 401 }
        let seconds: Double = (ContinuousClock.now - begin) / .seconds(1)
        #expect(looked > 0 && answers.allSatisfy { $0 == 401 || $0 == 429 }, "\(answers)")
        // Two attempts at a time from one address, each half a second long.
        #expect(Double(looked) <= 2 + 4 * seconds, "\(answers)")
        // While all attempts are in use, a right password is not distinguished from a wrong one.
        let unknown = try right.map { try status(of: $0) }
        #expect(unknown.contains(429), "\(unknown)")
        try await tellsOfGuesses(program, since: begin)
    }

    /// A client that shares an address with a user could otherwise test a guess without a delay.
    @Test(.timeLimit(.minutes(3))) func aUserWhosePasswordIsGuessedAtCanLogIn() async throws {
        let program = try start("--users", try usersFile("lovelace:se:cret\n"))
        let port = try await port(of: program)
        #expect(try status(port, user: "lovelace:se:cret") == 200)
        try await until("a right password is not accepted while all attempts are in use") {
            let wrong = try (0..<12).map { try asked(port, user: "lovelace:guess\($0)") }
            let answer = try status(port, user: "lovelace:se:cret")
            for file in wrong { _ = try status(of: file) }
            return answer == 429
        }
        try await until("they come in again") { try status(port, user: "lovelace:se:cret") == 200 }
        #expect(await end(program).status == 0)
    }

    private func tellsOfGuesses(_ program: RunningExecutable, since begin: ContinuousClock.Instant) async throws {
        let first = try await program.errorLine { $0.contains("failed login") }
        #expect(first.contains("remote=127.0.0.1") && first.contains("left_out=0"), "\(first)")
        _ = try await program.errorLine { $0.contains("failed login") && !$0.contains("left_out=0") }
        let error = await end(program).error
        for secret in ["guess", "babbage", "lovelace", "hopper", "cret", "right"] {
            #expect(!error.contains(secret), "\(secret) is in the log: \(error)")
        }
        let lines = error.split(separator: "\n").count { $0.contains("failed login") }
        let seconds: Double = (ContinuousClock.now - begin) / .seconds(1)
        #expect(Double(lines) <= 2 + seconds / 5, "\(error)")
    }
}
