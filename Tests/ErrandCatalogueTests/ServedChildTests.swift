import Errand
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandCatalogue

/// Long-lived children that take one job after the other.
@Suite("Long-lived children", .timeLimit(.minutes(3)))
struct ServedChildTests {
    /// A child that does what its job says.
    private static let program = """
        import json, os, signal, sys
        for line in sys.stdin:
            job = json.loads(line)
            def say(**what): print(json.dumps({"id": job["id"], "token": job["token"], **what}), flush=True)
            act = job["arguments"].get("act")
            if act == "exit": sys.exit(3)
            if act == "leave": sys.exit(0)
            if act == "die": os.kill(os.getpid(), 9)
            if act == "complain": print("no such file", file=sys.stderr); sys.exit(1)
            if act == "garbage": print("ready!", flush=True); signal.pause()
            if act == "half": sys.stdout.write('{"id": "'); sys.stdout.flush(); sys.exit(0)
            if act == "flood":
                while True: sys.stdout.write("x" * 65536)
            if act == "report":
                for i in range(100000): say(progress=i / 100000)
            if act == "hang":
                signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.sigwait([signal.SIGUSR1])
            if act == "wait":
                signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]); say(progress=0.1); signal.sigwait([signal.SIGUSR1])
            if act == "foreign": print(json.dumps({"id": "another", "token": 1, "outcome": "finished"}), flush=True); signal.pause()
            if act == "stale": print(json.dumps({"id": job["id"], "token": 1, "outcome": "finished"}), flush=True); signal.pause()
            if act == "steps": say(progress=0.5, message="half"); say(checkpoint={"page": 2})
            if act == "fail": say(outcome="failed", error="no luck", retry_after_ms=1999.5)
            elif act == "refuse": say(outcome="failed", error="never", final=True)
            elif act == "snooze": say(outcome="snoozed", retry_after_ms=500)
            elif act == "cancel": say(outcome="cancelled", error="not needed")
            elif act == "twice": say(outcome="finished"); say(outcome="finished")
            elif act == "big": say(outcome="finished", result="x" * 70000)
            elif act == "grow": kept = "x" * 200_000_000; say(outcome="finished", result=os.getpid())
            elif act == "environment": say(outcome="finished", result=[os.environ.get(k) for k in ("ERRAND_PROTOCOL", "ERRAND_OPERATION", "ERRAND_REDIS_URL")])
            elif act == "echo": say(outcome="finished", result=job)
            else: say(outcome="finished", result=os.getpid())
        """

    private func pool(_ change: (inout ServedCommand) -> Void = { _ in }) -> ServedPool {
        var command = ServedCommand(arguments: ["python3", "-c", Self.program])
        change(&command)
        return ServedPool("act", command)
    }

    @discardableResult
    private func run(
        _ act: String,
        _ pool: ServedPool,
        id: String = "job",
        store: (JobReports) async -> Void = { _ in }
    ) async -> HandlerOutcome {
        let facts = JobFacts(id: id, operation: "act", token: 42, arguments: ["act": JSONText(stringLiteral: act)])
        return await pool.run(ServedJob(facts: facts), store: store)
    }

    /// Runs a job that says which process has run it.
    private func process(_ pool: ServedPool) async throws -> Int {
        guard case .finished(let result) = await run("", pool) else { throw TestError("not finished") }
        return try #require(Int(String(decoding: result, as: UTF8.self)))
    }

    @Test func oneProcessTakesOneJobAfterTheOther() async throws {
        let pool = pool()
        let first = try await process(pool)
        for _ in 0..<20 { #expect(try await process(pool) == first) }
    }

    @Test func jobsBeyondTheChildrenWait() async throws {
        let pool = pool { $0.instances = 3 }
        let processes = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<60 { group.addTask { try await process(pool) } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect((1...3).contains(processes.count))
    }

    @Test func outcomesAreWhatTheChildReports() async {
        let pool = pool()
        #expect(await run("fail", pool) == .failed("no luck", retryAfter: .seconds(2)))
        #expect(await run("refuse", pool) == .failed("never", isFinal: true))
        #expect(await run("snooze", pool) == .snoozed(.milliseconds(500)))
        #expect(await run("cancel", pool) == .cancelled("not needed"))
    }

    @Test func theJobIsOneLine() async throws {
        let pool = pool { $0.readsCheckpoints = true }
        var facts = JobFacts(
            id: "j-1",
            operation: "act",
            name: "a\n\"b\"",
            queue: "q",
            attempt: 3,
            token: 7,
            deadline: 12
        )
        facts.arguments = try JSONText(validating: Array("{\n \"act\": \"echo\",\r\n \"text\": \"é\\n\" }".utf8))
        facts.results = "/tmp/results"
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        facts.trace = TraceContext(parent: parent, state: "a=1")
        let outcome = await pool.run(ServedJob(facts: facts, checkpoint: ["page": 3])) { _ in }
        guard case .finished(let result) = outcome else { throw TestError("\(outcome)") }
        let job = Dictionary(try JSONText(validating: result).members.map { ($0.key, $0.value.description) }) { $1 }
        #expect(
            job == [
                "id": #""j-1""#, "token": "7", "operation": #""act""#, "name": #""a\n\"b\"""#, "queue": #""q""#,
                "attempt": "3", "deadline_ms": "12", "arguments": #"{"act": "echo", "text": "\u00e9\n"}"#,
                "checkpoint": #"{"page": 3}"#, "results_path": #""/tmp/results""#, "traceparent": "\"\(parent)\"",
                "tracestate": #""a=1""#,
            ]
        )
    }

    @Test func progressAndCheckpointsAreStoredBeforeTheEnd() async {
        let stored = Mutex<[JobReports]>([])
        await run("steps", pool()) { reports in stored.withLock { $0.append(reports) } }
        let all = stored.withLock { $0 }
        #expect(all.compactMap(\.progress?.fraction) == [0.5] && all.compactMap(\.progress?.message) == ["half"])
        #expect(all.compactMap(\.checkpoint?.description) == [#"{"page": 2}"#])
    }

    @Test func aFloodOfReportsIsNotKept() async {
        let stored = Mutex(0)
        #expect(await run("report", pool()) { _ in stored.withLock { $0 += 1 } } != .finished())
        #expect(stored.withLock { $0 } < 100_000)
    }

    static let misdeeds: [(act: String, error: String)] = [
        ("exit", "exit status 3"), ("leave", "ended with status 0"), ("die", "SIGKILL"), ("complain", "no such file"),
        ("garbage", "a line that is not a report ("), ("half", "ended with status 0"),
        ("flood", "a line of more than 2097152 bytes"), ("foreign", "reported on job another, which it is not running"),
        ("stale", "which it is not running with this token"), ("big", "at most 65536"),
    ]

    @Test(arguments: misdeeds) func aMisdeedCostsOneJob(act: String, error: String) async throws {
        let pool = pool { $0.instances = 2 }
        let other = Task { [self] in
            var outcomes: [HandlerOutcome] = []
            for _ in 0..<20 { outcomes.append(await run("fail", pool, id: "other")) }
            return outcomes
        }
        guard case .failed(let message, isFinal: false, retryAfter: nil) = await run(act, pool) else {
            throw TestError("it has not failed")
        }
        #expect(message.contains(error), "\(message)")
        _ = try await process(pool)
        #expect(await other.value.allSatisfy { $0 == .failed("no luck", retryAfter: .seconds(2)) })
    }

    @Test func aReportAfterTheOutcomeEndsTheChild() async throws {
        let pool = pool()
        let first = try await process(pool)
        #expect(await run("twice", pool) == .finished())
        try await eventually("another child has the next job") {
            await run("fail", pool) == .failed("no luck", retryAfter: .seconds(2))
        }
        #expect(try await process(pool) != first)
    }

    @Test func aJobThatIsStoppedEndsItsChildOnly() async throws {
        let pool = pool { $0.instances = 2 }
        let hanging = Task { [self] in await run("hang", pool) }
        let other = try await process(pool)
        // It is stopped once it has the job, or before.
        hanging.cancel()
        #expect(await hanging.value != .finished())
        #expect(try await process(pool) == other)
    }

    @Test func aJobThatIsStoppedWhileItWaitsGetsNoChild() async throws {
        let pool = pool()
        let hanging = Task { [self] in await run("hang", pool) }
        let waiting = Task { [self] in await run("", pool) }
        waiting.cancel()
        #expect(await waiting.value != .finished())
        hanging.cancel()
        _ = await hanging.value
        _ = try await process(pool)
    }

    @Test func aJobThatIsStoppedLateLeavesTheNextOneAlone() async throws {
        let pool = pool()
        let child = try await process(pool)
        let (asked, hasAsked) = AsyncStream<Void>.makeStream()
        let (allowed, mayGoOn) = AsyncStream<Void>.makeStream()
        let first = Task { [self] in
            await run("steps", pool) { _ in
                hasAsked.finish()
                for await _ in allowed {}
            }
        }
        for await _ in asked {}
        // The child has this job while the first one is still storing what it had reported.
        let (begun, hasBegun) = AsyncStream<Void>.makeStream()
        let second = Task { [self] in await run("wait", pool, id: "second") { _ in hasBegun.finish() } }
        for await _ in begun {}
        first.cancel()
        mayGoOn.finish()
        #expect(await first.value != .failed("stopped before it had a child"))
        kill(pid_t(child), SIGUSR1)
        #expect(await second.value == .finished(result: Array("\(child)".utf8)))
        #expect(try await process(pool) == child)
    }

    @Test func childrenAreReplacedAfterSomeJobs() async throws {
        let pool = pool { $0.mostJobs = 2 }
        var processes: [Int] = []
        for _ in 0..<4 { processes.append(try await process(pool)) }
        #expect(processes[0] == processes[1] && processes[2] == processes[3] && processes[1] != processes[2])
        try await eventually("the first one has ended") { kill(pid_t(processes[0]), 0) != 0 }
    }

    @Test func childrenAreReplacedWhenTheyNeedMuchMemory() async throws {
        let pool = pool { $0.mostMemory = 100 * 1_048_576 }
        let first = try await process(pool)
        #expect(try await process(pool) == first)
        await run("grow", pool)
        #expect(try await process(pool) != first)
    }

    @Test func theEnvironmentNamesTheProtocol() async throws {
        #expect(await run("environment", pool()) == .finished(result: Array(#"["1", "act", null]"#.utf8)))
    }

    @Test func aCommandThatIsNotThereFailsItsJobs() async throws {
        let pool = ServedPool("act", ServedCommand(arguments: ["errand-no-such-command"]))
        for _ in 0..<3 {
            guard case .failed(let message, _, _) = await run("", pool) else { throw TestError("it has not failed") }
            #expect(message.contains("errand-no-such-command"), "\(message)")
        }
    }
}

/// What a catalogue may say of long-lived children.
struct ServedCatalogueTests {
    private func command(_ lines: String) throws -> ServedCommand {
        let yaml = "operations:\n  act:\n    " + lines.replacing("\n", with: "\n    ")
        let catalogue = try Catalogue(yaml: yaml, source: "jobs.yaml")
        guard case .serve(let pool) = catalogue.operations["act"]?.kind else { throw TestError("no children") }
        return pool.command
    }

    @Test func valuesAreRead() throws {
        #expect(try command("serve: [python3, act.py]") == ServedCommand(arguments: ["python3", "act.py"]))
        let all = try command("serve: [act]\ninstances: 4\ncheckpoints: true\nrestart: {jobs: 1000, memory_mb: 512}")
        let expected = ServedCommand(
            arguments: ["act"],
            instances: 4,
            mostJobs: 1000,
            mostMemory: 512 * 1_048_576,
            readsCheckpoints: true
        )
        #expect(all == expected)
    }

    @Test(arguments: [
        ("serve: act", "is one text"), ("serve: []", "names no command"), ("serve: [act, \"{path}\"]", "no {argument}"),
        ("serve: [act]\ninstances: 0", "from 1 to 1000"), ("serve: [act]\nrestart: {jobs: x}", "whole number"),
        ("serve: [act]\nrestart: {hours: 1}", "hours"), ("serve: [act]\ncheckpoints: often", "true or false"),
        ("serve: [act]\nrun: [act]", "only one of them"), ("run: [act]\ninstances: 2", "works only with \"serve\""),
    ])
    func whatIsWrongIsNamed(lines: String, words: String) throws {
        let error = #expect(throws: CatalogueError.self) { try command(lines) }
        #expect("\(try #require(error))".contains(words), "\(error.map { "\($0)" } ?? "")")
    }
}
