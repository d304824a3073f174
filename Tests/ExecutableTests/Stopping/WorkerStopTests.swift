import Errand
import Foundation
import TestSupport
import Testing

/// Signals to a worker: however fast a shutdown is, it is not a failure of its jobs.
@Suite(.serialized, .timeLimit(.minutes(6))) struct WorkerStopTests {
    private let fixture: StopFixture
    private let server: RedisServer

    init() throws {
        server = try RedisServer()
        fixture = try StopFixture(server)
    }

    /// Longer than the time within which two signals count as one.
    private func pause() async throws { try await Task.sleep(for: .milliseconds(600)) }

    @Test(arguments: StopFixture.Command.allCases)
    func `a second signal releases a running command once nothing of it lives`(
        _ command: StopFixture.Command
    ) async throws {
        try await fixture.push(command)
        let pairs = [(SIGTERM, SIGTERM), (SIGINT, SIGINT), (SIGTERM, SIGINT), (SIGHUP, SIGQUIT)]
        for (round, signals) in pairs.enumerated() {
            let worker = try fixture.worker()
            try await fixture.begin()
            worker.signal(signals.0)
            try await pause()
            #expect(!worker.hasEnded)
            let start = ContinuousClock.now
            worker.signal(signals.1)
            let output = await worker.end()
            #expect(!fixture.lives(), "a process of the command outlived the worker")
            #expect(output.status == 128 + signals.1, "\(output.error)")
            #expect(ContinuousClock.now - start < StopFixture.grace / 2)
            try await fixture.expectUntouched(released: round + 1)
        }
    }

    @Test func `a SIGQUIT alone stops at once`() async throws {
        try await fixture.push(.deaf)
        let worker = try fixture.worker()
        try await fixture.begin()
        worker.signal(SIGQUIT)
        #expect(await worker.end().status == 131)
        #expect(!fixture.lives())
        try await fixture.expectUntouched(released: 1)
    }

    @Test func `many running and waiting jobs are all released at once`() async throws {
        for number in 0..<12 { try await fixture.push(number % 2 == 0 ? .plain : .deaf, lock: "lock-\(number)") }
        let worker = try fixture.worker(["--concurrency", "8"])
        for number in 0..<8 { try await fixture.begin("lock-\(number)") }
        worker.signal(SIGTERM)
        try await pause()
        worker.signal(SIGTERM)
        #expect(await worker.end().status == 143)
        for number in 0..<12 { #expect(!fixture.lives("lock-\(number)")) }
        try await fixture.expectUntouched(12, released: 8)
    }

    @Test(arguments: [true, false])
    func `a command that is signalled with its worker is released`(_ isWorkerFirst: Bool) async throws {
        try await fixture.push(.plain)
        let worker = try fixture.worker()
        try await fixture.begin()
        let commands = ProcessTree.descendants(of: worker.pid).filter { getpgid($0) == $0 && getsid($0) != $0 }
        for pid in isWorkerFirst ? [worker.pid] + commands : commands + [worker.pid] { kill(pid, SIGTERM) }
        #expect(await worker.end().status == 0)
        try await fixture.expectUntouched(released: 1)
    }

    @Test(arguments: [[SIGTERM, SIGTERM], [SIGINT, SIGTERM, SIGINT], [SIGTERM, SIGHUP]])
    func `signals within half a second are one graceful stop`(_ signals: [Int32]) async throws {
        try await fixture.push(.plain, seconds: 2)
        let worker = try fixture.worker()
        try await fixture.begin()
        for signal in signals {
            worker.signal(signal)
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(await worker.end().status == 0)
        #expect(try await fixture.status.totals["finished"] == 1)
    }

    @Test func `timeout, which signals a process and its group, stops a worker gracefully`() async throws {
        try await fixture.push(.plain, seconds: 3)
        let worker = try fixture.worker(shell: #"timeout 2 "$@"; echo "status $?" >&2"#)
        #expect(await worker.end().error.contains("status 124"))
        #expect(try await fixture.status.totals["finished"] == 1)
    }

    @Test func `a short grace is kept even if a command ignores SIGTERM`() async throws {
        try await fixture.push(.deaf)
        let worker = try fixture.worker(grace: .seconds(4))
        try await fixture.begin()
        let start = ContinuousClock.now
        worker.signal(SIGTERM)
        #expect(await worker.end().status == 0)
        // SIGTERM alone would take 3 s of it, and two more seconds.
        #expect(ContinuousClock.now - start < .milliseconds(4900))
        #expect(!fixture.lives())
        try await fixture.expectUntouched(released: 1)
    }

    @Test func `a SIGTERM after a SIGHUP is the first of its kind, and stays graceful`() async throws {
        try await fixture.push(.plain, seconds: 3)
        let worker = try fixture.worker()
        try await fixture.begin()
        worker.signal(SIGHUP)
        try await pause()
        worker.signal(SIGTERM)
        #expect(await worker.end().status == 0)
        #expect(try await fixture.status.totals["finished"] == 1)
    }

    @Test func `a SIGHUP that nohup ignores is ignored, and USR1 and USR2 end nothing`() async throws {
        try await fixture.push(.plain, seconds: 2)
        let worker = try fixture.worker(shell: #"trap '' HUP; exec "$@""#)
        try await fixture.begin()
        for signal in [SIGHUP, SIGUSR1, SIGUSR2] { worker.signal(signal) }
        try await eventually("the job has finished") { try await fixture.status.totals["finished"] == 1 }
        #expect(!worker.hasEnded)
        worker.signal(SIGTERM)
        #expect(await worker.end().status == 0)
    }

    @Test
    func `a worker whose broker does not answer exits within seconds, and its job fails for no reason of its own`()
        async throws
    {
        try await fixture.push(.deaf)
        let worker = try fixture.worker()
        try await fixture.begin()
        server.kill(SIGSTOP)
        worker.signal(SIGTERM)
        try await pause()
        let start = ContinuousClock.now
        worker.signal(SIGTERM)
        let output = await worker.end()
        server.kill(SIGCONT)
        #expect(output.status == 143)
        #expect(ContinuousClock.now - start < StopFixture.grace / 2)
        #expect(!fixture.lives())
        let other = try fixture.worker()
        try await fixture.begin()
        let status = try await fixture.status
        #expect(status.dead == 0 && status.totals["failed"] == 0, "\(status)")
        other.signal(SIGQUIT)
        _ = await other.end()
    }

    @Test func `unread output delays neither shutdown nor heartbeats`() async throws {
        try await fixture.push(.plain, seconds: 5)
        let place = server.directory
        let worker = try fixture.worker(
            ["--verbose"],
            lease: "3s",
            shell: #"""
                ( head -c 65536 /dev/zero; sh -c 'echo $$ >\#(place)/pid.new; mv \#(place)/pid.new \#(place)/pid; exec "$@"' sh "$@"
                  echo $? >\#(place)/status ) 2>&1 | while [ ! -e \#(place)/status ]; do sleep 0.1; done
                """#
        )
        try await fixture.begin()
        let pid = try #require(Int32(String(contentsOfFile: place + "/pid", encoding: .utf8).dropLast()))
        // It has no input that would end it with the tests.
        defer { if !FileManager.default.fileExists(atPath: place + "/status") { kill(pid, SIGKILL) } }
        // Beyond its lease, after which the broker still considers it alive.
        try await eventually("the job has finished") { try await fixture.status.totals["finished"] == 1 }
        kill(pid, SIGTERM)
        _ = await worker.end()
        #expect(try String(contentsOfFile: place + "/status", encoding: .utf8) == "0\n")
        #expect(try await fixture.status.totals["recovered"] == 0)
    }

    @Test func `unread output does not delay an immediate stop`() async throws {
        try await fixture.push(.deaf)
        let place = server.directory
        let worker = try fixture.worker(
            shell: #"""
                ( head -c 65536 /dev/zero; sh -c 'echo $$ >\#(place)/pid.new; mv \#(place)/pid.new \#(place)/pid; exec "$@"' sh "$@"
                  echo $? >\#(place)/status ) 2>&1 | while [ ! -e \#(place)/status ]; do sleep 0.1; done
                """#
        )
        try await fixture.begin()
        let pid = try #require(Int32(String(contentsOfFile: place + "/pid", encoding: .utf8).dropLast()))
        defer { if !FileManager.default.fileExists(atPath: place + "/status") { kill(pid, SIGKILL) } }
        kill(pid, SIGTERM)
        try await pause()
        let start = ContinuousClock.now
        kill(pid, SIGTERM)
        _ = await worker.end()
        #expect(ContinuousClock.now - start < StopFixture.grace / 2)
        #expect(try String(contentsOfFile: place + "/status", encoding: .utf8) == "143\n")
        try await fixture.expectUntouched(released: 1)
    }

    @Test func `a second signal releases a web call that has no response yet`() async throws {
        let web = try WebServer { _ in nil }
        let fixture = try StopFixture(server, calling: web.url)
        #expect(try await Executable.producer.run(["push", "call"], on: server).status == 0)
        let worker = try fixture.worker()
        try await eventually("the call has arrived") { !web.requests.isEmpty }
        worker.signal(SIGTERM)
        try await pause()
        #expect(!worker.hasEnded)
        worker.signal(SIGTERM)
        #expect(await worker.end().status == 143)
        try await fixture.expectUntouched(released: 1)
    }

    @Test func `the last user of an embedded broker releases its job there`() async throws {
        let directory = "/tmp/errand-stop-\(UInt32.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let embedded = ["--embedded", directory]
        let arguments = #"{"lock":"\#(server.directory)/lock","s":1000}"#
        #expect(try await Executable.producer.run(["push", "deaf", arguments] + embedded).status == 0)
        let worker = try fixture.worker(embedded)
        try await fixture.begin()
        worker.signal(SIGTERM)
        try await pause()
        worker.signal(SIGTERM)
        #expect(await worker.end().status == 143)
        let status = try await Executable.console.run(["status", "--json"] + embedded).object
        let queue = try #require(status["queues"]?.items.first)
        #expect(queue["ready"] == 1 && queue["totals"]?["released"] == 1 && queue["dead"] == 0, "\(queue)")
    }

    @Test func `a password that is changed lets running commands end`() async throws {
        try await fixture.push(.plain, seconds: 4)
        let worker = try fixture.worker()
        try await fixture.begin()
        #expect(try server.run("ACL", "SETUSER", "errand", "resetpass", ">another") == "OK")
        _ = try server.run("CLIENT", "KILL", "USER", "errand")
        _ = try await worker.errorLine { $0.contains("refuses this worker") }
        #expect(fixture.lives())
        #expect(try server.run("ACL", "SETUSER", "errand", "resetpass", ">\(RedisServer.password)") == "OK")
        #expect(await worker.end().status == 77)
        let status = try await fixture.status
        #expect(status.totals["finished"] == 1 && status.totals["recovered"] == 0, "\(status.totals)")
    }
}
