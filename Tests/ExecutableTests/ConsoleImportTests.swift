import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

/// `errand import` with keys like those of the other libraries in Redis.
@Suite struct ConsoleImportTests {
    private let server: RedisServer
    /// The operator's address, because Errand's own user may not read other keys.
    private var source: String { "unix://\(server.socket)" }

    init() throws { server = try RedisServer() }

    private func runImport(_ from: String, _ arguments: String...) async throws -> Output {
        try await Executable.console.run(
            ["import", "--from", from, "--source", source, "--json"] + arguments,
            on: server
        )
    }

    private func descriptions(in queue: String) async throws -> [String: OperationDescription] {
        let desk = try await Desk(server)
        var found: [String: OperationDescription] = [:]
        for state in [JobState.ready, .scheduled] {
            for record in try await desk.broker.jobs(in: state, on: queue, from: 0, count: 500).jobs {
                found[record.id] = try JobEnvelope.read(stored: record.body).description
            }
        }
        return found
    }

    private func counts(_ output: Output) throws -> [String: JSON?] {
        let object = try output.object
        return ["readable": object["readable"], "moved": object["moved"], "skipped": object["skipped"]]
    }

    @Test func `a source that forbids its keys is not explained by Errand's access list`() async throws {
        try server.run("LPUSH", "queue:mail", "{}")
        let output = try await Executable.console.run(
            ["import", "--from", "sidekiq", "--source", server.url],
            on: server
        )
        #expect(output.status == 77, "\(output.error)")
        #expect(output.error.contains("does not permit this user a command that the import needs"), "\(output.error)")
        #expect(!output.error.contains("errand.acl") && !output.error.contains("doctor"), "\(output.error)")
    }

    @Test func `a key of the wrong type at the source is not the doctor's`() async throws {
        try server.run("SET", "queues", "rubbish")
        let output = try await Executable.console.run(
            ["import", "--from", "sidekiq", "--source", source],
            on: server
        )
        #expect(output.status != 0)
        let said = output.error + output.text
        #expect(said.contains("queues") && said.contains("wrong"), "\(said)")
        #expect(!said.contains("doctor"), "\(said)")
    }

    // MARK: swift-jobs

    private func fillSwiftJobs() throws {
        let payload =
            #"{"SendEmail":{"p":{"to":"ada","price":12345678901234567890},"q":780000000.25,"a":1,"t":{"traceparent":"00-x"}}}"#
        for id in ["READY", "LATER", "DEAD", "ALIVE", "UNSURE", "BROKEN"] {
            try server.run("SET", "_hbJobQueue/\(id)", payload)
        }
        try server.run("SET", "_hbJobQueue/BROKEN", "rubbish")
        try server.run(
            "ZADD",
            "_hbJobQueue.pending",
            "0",
            "READY",
            "4102444800.5",
            "LATER",
            "1",
            "BROKEN",
            "2",
            "MISSING"
        )
        try server.run("LPUSH", "_hbJobQueue.processing", "DEAD", "ALIVE", "UNSURE")
        try server.run("HSET", "_hbJobQueue/DEAD.metadata", "workerID", "w1")
        try server.run("HSET", "_hbJobQueue/ALIVE.metadata", "workerID", "w2")
        try server.run("SET", "_hbJobQueue.metadata.worker.w2", "lock")
    }

    @Test func listsJobsOfSwiftJobsInADryRun() async throws {
        try fillSwiftJobs()
        let before = try server.run("KEYS", "*").split(whereSeparator: \.isNewline).sorted()
        let output = try await runImport("swift-jobs")
        #expect(output.status == 0, "\(output.error)")
        #expect(try counts(output) == ["readable": 3, "moved": 0, "skipped": 4])
        let after = try server.run("KEYS", "*").split(whereSeparator: \.isNewline).sorted()
        #expect(after == before)
        #expect(output.text.contains("worker w2 still runs it"))
        #expect(output.text.contains("stop the old workers, then use --stranded"))
        #expect(output.text.contains("its payload _hbJobQueue/MISSING is missing"))
    }

    @Test func movesJobsOfSwiftJobsAndCanBeRunAgain() async throws {
        try fillSwiftJobs()
        let output = try await runImport("swift-jobs", "--commit", "--stranded")
        #expect(output.status == 1, "some stay: \(output.error)")
        #expect(try counts(output) == ["readable": 4, "moved": 4, "skipped": 3])
        let moved = try await descriptions(in: "default")
        #expect(Set(moved.keys) == ["READY", "LATER", "DEAD", "UNSURE"])
        let later = try #require(moved["LATER"])
        #expect(later.operation == "SendEmail")
        #expect(later.arguments.description == #"{"to":"ada","price":12345678901234567890}"#)
        #expect(later.notBefore == 4_102_444_800_500)
        #expect(later.meta == ["traceparent": "00-x"])
        #expect(moved["READY"]?.notBefore == nil)
        #expect(
            try server.run("ZRANGE", "_hbJobQueue.pending", "0", "-1").split(whereSeparator: \.isNewline) == [
                "BROKEN", "MISSING",
            ]
        )
        #expect(try server.run("LRANGE", "_hbJobQueue.processing", "0", "-1") == "ALIVE")
        #expect(try server.run("EXISTS", "_hbJobQueue/READY", "_hbJobQueue/DEAD.metadata") == "0")

        // Stopped between the push and the removal of the job, it does not push the job twice.
        try server.run("SET", "_hbJobQueue/READY", #"{"SendEmail":{"p":{}}}"#)
        try server.run("ZADD", "_hbJobQueue.pending", "0", "READY")
        #expect(try counts(try await runImport("swift-jobs", "--commit", "--stranded"))["moved"] == 1)
        #expect(try await descriptions(in: "default").count == 4)
    }

    // MARK: Vapor Queues

    @Test func movesJobsOfVaporQueues() async throws {
        let payload = Array(#"{"to":"ada"}"#.utf8).map(String.init).joined(separator: ",")
        func data(_ more: String) -> String {
            #"{"payload":[\#(payload)],"jobName":"EmailJob","queuedAt":1735689600.5,\#(more)}"#
        }
        try server.run("SET", "job:A", data(#""maxRetryCount":3,"attempts":1"#))
        try server.run("SET", "job:B", data(#""maxRetryCount":2,"delayUntil":4102444800"#))
        try server.run("SET", "job:C", data(#""maxRetryCount":0"#))
        try server.run("SET", "job:D", #"{"payload":[300],"jobName":"x","maxRetryCount":1}"#)
        try server.run("LPUSH", "vapor_queues[emails]", "A", "B", "D")
        try server.run("LPUSH", "vapor_queues[emails]-processing", "C")
        let careful = try await runImport("vapor-queues", "--source-queue", "emails", "--commit")
        #expect(try counts(careful) == ["readable": 2, "moved": 2, "skipped": 2])
        let all = try await runImport(
            "vapor-queues",
            "--source-queue",
            "emails",
            "--commit",
            "--stranded",
            "--rename",
            "EmailJob=email.send",
            "--queue",
            "mail"
        )
        #expect(try counts(all) == ["readable": 1, "moved": 1, "skipped": 1])
        let (first, second) = (try await descriptions(in: "emails"), try await descriptions(in: "mail"))
        #expect(first["A"]?.operation == "EmailJob")
        #expect(first["A"]?.retries == 2)
        #expect(first["A"]?.arguments == ["to": "ada"])
        #expect(first["B"]?.retries == 2)
        #expect(first["B"]?.notBefore == 4_102_444_800_000)
        #expect(second["C"]?.operation == "email.send")
        #expect(second["C"]?.retries == 0)
        #expect(try server.run("KEYS", "job:*") == "job:D")
    }

    // MARK: Sidekiq

    @Test func movesJobsOfSidekiq() async throws {
        func job(_ id: String, _ more: String = "") -> String {
            #"{"retry":true,"queue":"low","class":"Reports::Monthly","args":[1,{"a":2.50}],"jid":"\#(id)","created_at":1652403134.899608\#(more)}"#
        }
        try server.run("SADD", "app:queues", "low", "empty")
        try server.run("LPUSH", "app:queue:low", job("a1"), job("a2", #","wrapped":"MailJob""#), "rubbish")
        try server.run("ZADD", "app:schedule", "4102444800.25", job("b1"))
        try server.run("ZADD", "app:retry", "1652403135", job("c1", #","retry_count":4"#))
        try server.run("LPUSH", "app:queue:sq|host:1:dead|low", job("d1"))
        try server.run("LPUSH", "app:queue:sq|host:2:alive|low", job("e1"))
        try server.run("SET", "app:host:2:alive", "beats")
        let output = try await runImport("sidekiq", "--namespace", "app", "--commit")
        #expect(output.status == 1)
        #expect(try counts(output) == ["readable": 5, "moved": 5, "skipped": 2])
        let moved = try await descriptions(in: "low")
        #expect(Set(moved.keys) == ["a1", "a2", "b1", "c1", "d1"])
        #expect(moved["a1"]?.operation == "Reports__Monthly")
        #expect(moved["a1"]?.arguments.description == #"[1,{"a":2.50}]"#)
        #expect(moved["a2"]?.operation == "MailJob")
        #expect(moved["b1"]?.notBefore == 4_102_444_800_250)
        #expect(moved["c1"]?.retries == 20)
        #expect(moved["a1"]?.retries == 25)
        #expect(try server.run("LRANGE", "app:queue:low", "0", "-1") == "rubbish")
    }

    @Test func movesMoreThanAPageAndLeavesWhatItCannotRead() async throws {
        for start in stride(from: 0, to: 1000, by: 100) {
            let jobs = (start..<start + 100).map { number in
                number % 7 == 0 ? "rubbish \(number)" : #"{"class":"A","args":[],"jid":"j\#(number)","queue":"q"}"#
            }
            try server.run(["LPUSH", "queue:q"] + jobs)
        }
        try server.run("SADD", "queues", "q")
        let output = try await runImport("sidekiq", "--commit")
        #expect(try counts(output) == ["readable": 857, "moved": 857, "skipped": 143])
        #expect(try server.run("LLEN", "queue:q") == "143")
        let desk = try await Desk(server, queues: ["q"])
        #expect(try await desk.broker.status(of: "q").queue.ready == 857)
    }

    // MARK: Invalid places and entries

    @Test func `a place of another type is reported, and the others are moved`() async throws {
        let job = #"{"class":"A","args":[],"jid":"NAME","queue":"q"}"#
        try server.run("SADD", "queues", "bad", "q", "worse")
        try server.run("SET", "queue:bad", "a text")
        try server.run("LPUSH", "queue:q", job.replacing("NAME", with: "a1"))
        try server.run("HSET", "queue:worse", "a", "b")
        try server.run("LPUSH", "schedule", "not sorted")
        try server.run("ZADD", "retry", "1652403135", job.replacing("NAME", with: "b1"))
        for arguments in [[], ["--commit"]] {
            let output = try await Executable.console.run(
                ["import", "--from", "sidekiq", "--source", source] + arguments,
                on: server
            )
            let isMoved = arguments == ["--commit"]
            #expect(output.status == 1)
            #expect(output.text.contains("it holds a string where jobs would be in a list"), "\(output.text)")
            #expect(output.text.contains("it holds a hash where jobs would be in a list"), "\(output.text)")
            #expect(output.text.contains("it holds a list where jobs would be in a zset"), "\(output.text)")
            #expect(
                output.text.contains(isMoved ? "2 jobs moved, 0 left" : "2 jobs to move, 0 to leave"),
                "\(output.text)"
            )
            #expect(output.error.contains("3 places of 5 cannot be read"), "\(output.error)")
            #expect(!output.error.contains("nothing was done"), "\(output.error)")
        }
        #expect(try await Set(descriptions(in: "q").keys) == ["a1", "b1"])
        #expect(try server.run("EXISTS", "queue:bad", "queue:worse", "schedule") == "3")
    }

    @Test func `a set of queues that cannot be read leaves the other places`() async throws {
        try server.run("SET", "queues", "a text")
        try server.run("ZADD", "retry", "1652403135", #"{"class":"A","args":[],"jid":"b1","queue":"q"}"#)
        let output = try await runImport("sidekiq", "--commit")
        #expect(output.status == 1)
        #expect(try counts(output) == ["readable": 1, "moved": 1, "skipped": 0])
        #expect(output.text.contains("name them with --source-queue"), "\(output.text)")
    }

    @Test func `a payload of another type leaves its job alone`() async throws {
        try server.run("SET", "_hbJobQueue/GOOD", #"{"SendEmail":{"p":{}}}"#)
        try server.run("HSET", "_hbJobQueue/BAD", "a", "b")
        try server.run("ZADD", "_hbJobQueue.pending", "0", "BAD", "1", "GOOD")
        try server.run("LPUSH", "_hbJobQueue.processing", "WORSE")
        try server.run("SET", "_hbJobQueue/WORSE.metadata", "a text")
        let output = try await runImport("swift-jobs", "--commit")
        #expect(output.status == 1)
        #expect(try counts(output) == ["readable": 1, "moved": 1, "skipped": 2])
        #expect(output.text.contains("_hbJobQueue/BAD: "), "\(output.text)")
        #expect(output.text.contains("_hbJobQueue/WORSE.metadata: "), "\(output.text)")
        let vapor = #"{"payload":[123,125],"jobName":"x","maxRetryCount":1}"#
        try server.run("SET", "job:A", vapor)
        try server.run("LPUSH", "job:B", "a list")
        try server.run("LPUSH", "vapor_queues[default]", "A", "B")
        try server.run("SET", "vapor_queues[default]-processing", "a text")
        let second = try await runImport("vapor-queues", "--commit", "--queue", "vapor")
        #expect(second.status == 1)
        #expect(try counts(second) == ["readable": 1, "moved": 1, "skipped": 1])
        #expect(second.text.contains("it holds a string where jobs would be in a list"), "\(second.text)")
    }

    @Test func `a queue takes what it has room for, and the other jobs stay where they are`() async throws {
        let desk = try await Desk(server, queues: ["full"])
        try await desk.broker.configure("full", QueueSettings(maximumLength: 1))
        try server.run("SADD", "queues", "full", "q")
        for id in ["a", "b"] {
            for queue in ["full", "q"] {
                let job = #"{"class":"A","args":[],"jid":"\#(id)-\#(queue)","queue":"\#(queue)"}"#
                try server.run("LPUSH", "queue:\(queue)", job)
            }
        }
        let output = try await runImport("sidekiq", "--commit")
        #expect(output.status == 1)
        #expect(try counts(output) == ["readable": 4, "moved": 3, "skipped": 1])
        #expect(try server.run("LLEN", "queue:full") == "1")
        #expect(try await descriptions(in: "q").count == 2)
    }

    @Test func `after a lost reply the number of moved jobs is reported`() async throws {
        try server.run("SADD", "queues", "q")
        for start in stride(from: 0, to: 400, by: 100) {
            let jobs = (start..<start + 100).map { #"{"class":"A","args":[],"jid":"j\#($0)","queue":"q"}"# }
            try server.run(["LPUSH", "queue:q"] + jobs)
        }
        let target = try RedisServer()
        let proxy = try ChaosProxy(to: target)
        defer { proxy.close() }
        // From the second page.
        proxy.treat { $0.contains("j399") ? .loseAnswer : .pass }
        let output = try await Executable.console.run(
            ["import", "--from", "sidekiq", "--source", source, "--commit", "--json"],
            environment: ["ERRAND_REDIS_URL": proxy.url]
        )
        #expect(output.status == 1)
        #expect(try counts(output) == ["readable": 400, "moved": 200, "skipped": 200], "\(output.error)")
        #expect(try server.run("LLEN", "queue:q") == "200")
    }

    @Test func rejectsWhatItCannotDo() async throws {
        #expect(try await runImport("resque").status == 64)
        #expect(try await runImport("sidekiq", "--rename", "no").status == 64)
        #expect(try await runImport("sidekiq", "--queue", "a b").status == 64)
        let unreachable = try await Executable.console.run(
            ["import", "--from", "sidekiq", "--source", "unix:///nowhere"],
            on: server
        )
        #expect(unreachable.status == 69)
        // Errand's own user may not read foreign keys, which is reported.
        let forbidden = try await Executable.console.run(["import", "--from", "sidekiq"], on: server)
        #expect(forbidden.status == 77, "\(forbidden.error)")
    }

    @Test func distantDatesBecomeTheLatestOne() async throws {
        let payload = #"{"SendEmail":{"p":{}}}"#
        let times = ["PARKED": "64092211200", "ENDLESS": "inf", "EDGE": "9999999999", "PAST": "-inf"]
        for (id, time) in times {
            try server.run("SET", "_hbJobQueue/\(id)", payload)
            try server.run("ZADD", "_hbJobQueue.pending", time, id)
        }
        #expect(try await runImport("swift-jobs", "--queue", "mail", "--commit").status == 0)
        let moved = try await descriptions(in: "mail")
        #expect(moved.count == 4)
        for id in ["PARKED", "ENDLESS"] { #expect(moved[id]?.notBefore == 9_999_999_999_999) }
        #expect(moved["EDGE"]?.notBefore == 9_999_999_999_000)
        #expect((moved["PAST"]?.notBefore ?? 0) < 2_000_000_000_000)
    }
}
