import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

#if os(Linux)
    /// `errand top` on a terminal.
    @Suite struct ConsoleTopTests {
        private let server: RedisServer

        init() throws { server = try RedisServer() }

        private func start() throws -> RunningExecutable {
            let environment = ["ERRAND_REDIS_URL": server.url, "TERM": "xterm"]
            return try RunningExecutable(
                .console,
                ["top", "--every", "100ms"],
                environment: environment,
                onTerminal: true
            )
        }

        private func press(_ keys: String, _ top: RunningExecutable) { top.write(Array(keys.utf8)) }

        /// Whether a line is that of a queue; the line with the broker may contain the same characters.
        private func isRow(_ line: String, of queue: String, _ ready: String) -> Bool {
            line.contains(queue) && line.contains(ready) && !line.contains("0/s") && !line.contains("broker:")
        }

        @Test func showsAndSteersTheSelectedQueue() async throws {
            let desk = try await Desk(server, queues: ["a", "b"])
            for queue in ["a", "b", "b"] {
                let push = ["push", "work", "--queue", queue]
                #expect(try await Executable.producer.run(push, on: server).status == 0)
            }
            let top = try start()
            _ = try await top.line { isRow($0, of: "b", "2") }
            try await desk.work(.failed, error: "no such file", queue: "b")
            // As "failed" if it listens already, and else as "dead", the job's last event.
            _ = try await top.line { $0.contains("b work") && $0.contains("no such file") }

            press("\u{1B}[Bp", top)
            try await until("b is paused") { try await desk.broker.status(of: "b").queue.isPaused }
            #expect(try await !desk.broker.status(of: "a").queue.isPaused)
            press("cn", top)
            _ = try await top.line { $0.contains("nothing was done") }
            #expect(try await desk.broker.status(of: "b").queue.ready == 1)
            press("cy", top)
            try await until("b is empty") { try await desk.broker.status(of: "b").queue.ready == 0 }
            _ = try await top.line { $0.contains("1 cancelled") }
            press("ry", top)
            try await until("the dead job is back") { try await desk.broker.status(of: "b").queue.ready == 1 }
            #expect(try await desk.broker.status(of: "a").queue.ready == 1)

            press("q", top)
            let output = await top.end()
            #expect(output.status == 0)
            #expect(output.text.hasPrefix("\u{1B}[?1049h") || output.text.contains("\u{1B}[?1049h"))
            #expect(output.text.contains("\u{1B}[?1049l"))
        }

        @Test func theSelectedQueueStaysVisibleAndSelected() async throws {
            let names = (10..<50).map { "q\($0)" }
            let desk = try await Desk(server, queues: names)
            let lines = names.map { #"{"operation":"work","queue":"\#($0)"}"# }.joined(separator: "\n")
            #expect(try await Executable.producer.run(["push", "--from", "-"], on: server, input: lines).status == 0)
            let top = try start()
            _ = try await top.line { $0.contains("more queues") }
            press(String(repeating: "\u{1B}[B", count: 30), top)
            _ = try await top.line { $0.contains("›") && $0.contains("q40") }
            // Another queue before it moves its row, and not the selection.
            let push = ["push", "work", "--queue", "a-new-one"]
            #expect(try await Executable.producer.run(push, on: server).status == 0)
            press("\u{1B}[A\u{1B}[A", top)
            _ = try await top.line { $0.contains("›") && $0.contains("q38") }
            press("p", top)
            try await until("q38 is paused") { try await desk.broker.status(of: "q38").queue.isPaused }
            press("q", top)
            #expect(await top.end().status == 0)
        }

        @Test func noKeyIsLostWhileTheBrokerDoesNotAnswer() async throws {
            let desk = try await Desk(server, queues: ["a", "b"])
            let lines = ["a", "b"].map { #"{"operation":"work","queue":"\#($0)"}"# }.joined(separator: "\n")
            #expect(try await Executable.producer.run(["push", "--from", "-"], on: server, input: lines).status == 0)
            let top = try start()
            _ = try await top.line { isRow($0, of: "b", "1") }
            server.kill(SIGSTOP)
            press("p\u{1B}[Bp" + String(repeating: "\u{1B}[A\u{1B}[B", count: 500), top)
            // Their arrival cannot be observed, because the terminal shows nothing until the broker replies.
            try await Task.sleep(for: .seconds(1))
            server.kill(SIGCONT)
            for queue in ["a", "b"] {
                try await until("\(queue) is paused") { try await desk.broker.status(of: queue).queue.isPaused }
            }
            press("q", top)
            #expect(await top.end().status == 0)
        }

        @Test func `reads keys after it was suspended, and its terminal changed by a shell`() async throws {
            let desk = try await Desk(server, queues: ["a"])
            #expect(try await Executable.producer.run(["push", "work", "--queue", "a"], on: server).status == 0)
            let top = try start()
            _ = try await top.line { isRow($0, of: "a", "1") }
            let pid = try #require(ProcessTree.descendants(of: top.pid).first)
            kill(pid, SIGTSTP)
            // The terminal's own process stops with the program in it, a moment later.
            for process in [pid, top.pid] {
                try await until("\(process) is suspended") {
                    try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8).contains(") T ")
                }
            }
            let terminal = open("/proc/\(pid)/fd/0", O_RDWR | O_NOCTTY | O_CLOEXEC)
            defer { close(terminal) }
            var settings = termios()
            #expect(tcgetattr(terminal, &settings) == 0)
            let released = settings.c_lflag & tcflag_t(ICANON | ECHO)
            #expect(released == tcflag_t(ICANON | ECHO), "the shell has to have a usual terminal meanwhile")
            settings.c_lflag |= tcflag_t(ICANON | ECHO)
            tcsetattr(terminal, TCSANOW, &settings)
            for process in [top.pid, pid] { kill(process, SIGCONT) }
            try await until("it has taken the terminal again") {
                var now = termios()
                return tcgetattr(terminal, &now) == 0 && now.c_lflag & tcflag_t(ICANON) == 0
            }
            press("p", top)
            try await until("a is paused") { try await desk.broker.status(of: "a").queue.isPaused }
            press("q", top)
            #expect(await top.end().status == 0)
        }

        @Test func endsWhenAskedTo() async throws {
            let top = try start()
            _ = try await top.line { $0.contains("errand top") }
            press("\u{03}", top)
            let output = await top.end()
            #expect(output.status == 0)
            #expect(output.text.contains("\u{1B}[?1049l"))
        }

        @Test func needsATerminal() async throws {
            let output = try await Executable.console.run(["top"], on: server)
            #expect(output.status == 64)
            #expect(output.error.contains("errand status --json"))
        }
    }
#endif
