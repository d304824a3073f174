import Errand
import Foundation
import TestSupport
import Testing

#if os(Linux)
    /// Tables on a terminal and in a pipe.
    @Suite struct ConsoleTableTests {
        private static let error =
            "the mail server mx1.example.org refused the connection " + String(repeating: "x", count: 150)

        private let server: RedisServer

        init() throws { server = try RedisServer() }

        /// A queue with a long name, a job with a long name, and one that died with a long error.
        private func fill() async throws -> Desk {
            let queue = "pictures-of-the-northern-warehouse"
            let desk = try await Desk(server, queues: [queue])
            let lines = [
                #"{"operation":"work","queue":"\#(queue)","retries":0}"#,
                #"{"operation":"make-a-small-picture-of-a-large-one","queue":"\#(queue)","name":"warehouse-7-camera-12"}"#,
                #"{"operation":"work","queue":"\#(queue)","not_before_ms":9999999999999}"#,
            ]
            let pushed = try await Executable.producer.run(
                ["push", "--from", "-"],
                on: server,
                input: lines.joined(separator: "\n")
            )
            #expect(pushed.status == 0, "\(pushed.error)")
            try await desk.work(.failed, error: Self.error, queue: queue)
            return desk
        }

        @Test(arguments: [80, 120])
        func `tables fit the terminal`(_ columns: Int) async throws {
            let desk = try await fill()
            for command in [["status"], ["jobs"], ["jobs", "--state", "dead"]] {
                let output = try await Executable.console.runOnTerminal(command, columns: columns, on: server)
                #expect(output.status == 0)
                #expect(output.lines.count > 1)
                for line in output.lines { #expect(line.count <= columns, "\(command): \(line)") }
            }
            let dead = try await Executable.console.runOnTerminal(
                ["jobs", "--state", "dead"],
                columns: columns,
                on: server
            )
            #expect(dead.text.contains("the mail ser") && dead.text.contains("…"))
            withExtendedLifetime(desk) {}
        }

        @Test func `a pipe and --full show everything`() async throws {
            let desk = try await fill()
            let id = try #require(
                try await Executable.console.run(["jobs", "--state", "dead", "--json"], on: server).object["id"]?.string
            )
            let pipe = try await Executable.console.run(["jobs", "--state", "dead"], on: server)
            let full = try await Executable.console.runOnTerminal(
                ["jobs", "--state", "dead", "--full"],
                columns: 80,
                on: server
            )
            for output in [pipe, full] {
                #expect(output.text.contains(id))
                #expect(output.text.contains(Self.error))
                #expect(output.text.contains(/20[0-9]{2}-[0-9]{2}-[0-9]{2}T/))
            }
            withExtendedLifetime(desk) {}
        }

        @Test func `a terminal shows relative times, and no columns without values`() async throws {
            let desk = try await fill()
            let jobs = try await Executable.console.runOnTerminal(
                ["jobs", "--state", "dead"],
                columns: 120,
                on: server
            )
            #expect(jobs.text.contains(/[0-9]+ s ago/), "\(jobs.text)")
            #expect(!jobs.text.contains("CRASHES") && !jobs.text.contains("RESULT") && !jobs.text.contains("NAME"))
            let later = try await Executable.console.runOnTerminal(
                ["jobs", "--state", "scheduled"],
                columns: 120,
                on: server
            )
            #expect(later.text.contains(/in [0-9]+ d/), "\(later.text)")
            withExtendedLifetime(desk) {}
        }

        @Test func `the dead are shown before the scheduled`() async throws {
            let desk = try await fill()
            let heading = try #require(try await Executable.console.run(["status"], on: server).lines.first)
            let titles = heading.split(separator: " ").map(String.init)
            let (dead, scheduled) = (titles.firstIndex(of: "DEAD"), titles.firstIndex(of: "SCHEDULED"))
            #expect(try #require(dead) < (try #require(scheduled)))
            #expect(!titles.contains("DEFERRED"))
            withExtendedLifetime(desk) {}
        }

        @Test func `tables are sorted as asked`() async throws {
            let lines = ["a", "b", "b", "c"].enumerated().map { #"{"operation":"op-\#(9 - $0)","queue":"\#($1)"}"# }
            _ = try await Executable.producer.run(
                ["push", "--from", "-"],
                on: server,
                input: lines.joined(separator: "\n")
            )
            let status = try await Executable.console.run(["status", "--sort", "ready"], on: server)
            #expect(status.lines.dropFirst().prefix(3).map { $0.prefix(1) } == ["b", "a", "c"])
            let jobs = try await Executable.console.run(["jobs", "--sort", "operation"], on: server)
            #expect(jobs.text.matches(of: /op-[0-9]/).map(\.output) == ["op-6", "op-7", "op-8", "op-9"])
            #expect(try await Executable.console.run(["status", "--sort", "colour"], on: server).status == 64)
        }

        @Test func `results have no line feed at their end`() async throws {
            let desk = try await Desk(server)
            #expect(try await Executable.producer.run(["push", "work"], on: server).status == 0)
            try await desk.work(.finished, result: "[1,\n2]\n\n")
            let jobs = try await Executable.console.run(["jobs", "--state", "finished"], on: server)
            #expect(jobs.text.hasSuffix("  [1,\\n2]\n"), "\(jobs.text)")
        }

        @Test func `a worker without heartbeats is marked as lost`() async throws {
            let desk = try await Desk(server)
            #expect(try await !Executable.console.run(["status"], on: server).text.contains("lost"))
            _ = try server.run("HSET", "errand:{default}:session:\(desk.session.id)", "beat", "1795000000000")
            let status = try await Executable.console.run(["status"], on: server)
            #expect(status.text.contains(/ago +lost/), "\(status.text)")
        }

        @Test func `a shortened id leads to its job`() async throws {
            let desk = try await fill()
            let listed = try await Executable.console.runOnTerminal(
                ["jobs", "--state", "dead"],
                columns: 80,
                on: server
            )
            let short = try #require(listed.lines.dropFirst().first?.split(separator: " ").first.map(String.init))
            #expect(short.hasSuffix("…") && short.count == 15)
            for text in [short, String(short.dropLast())] {
                let shown = try await Executable.console.run(["job", "show", text, "--json"], on: server)
                #expect(shown.status == 0, "\(shown.error)")
                #expect(try shown.object["state"] == "dead")
            }
            let retried = try await Executable.console.run(["job", "retry", short], on: server)
            #expect(retried.status == 0, "\(retried.error)")
            withExtendedLifetime(desk) {}
        }
    }
#endif
