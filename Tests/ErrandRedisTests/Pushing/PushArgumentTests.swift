import Errand
import TestSupport
import Testing

@testable import ErrandRedis

/// Mistakes that a program in another language may make in a push: the error names them, and nothing is pushed.
struct PushArgumentTests {
    /// A job's five values; no script reads past the header.
    private struct WireJob {
        var id = "job"
        var due = "0"
        var policy = "i"
        var name = ""
        var envelope = WireJob.text("1i5;;;30\n")

        static func text(_ header: String) -> String { header + #""operation":"noop","name":null{}"# }
        static func named(_ name: String, _ policy: String = "d") -> WireJob {
            WireJob(policy: policy, name: name, envelope: text("1\(policy)5;;;30\n"))
        }
        var values: [String] { [id, due, policy, name, envelope] }
    }

    private let server: RedisServer
    private let broker: RedisBroker

    init() throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
    }

    /// The script's reply, without any checks before.
    private func push(_ arguments: [String]) async throws(BrokerError) -> [RESPValue] {
        var call = ScriptCall(.push, on: "default")
        for argument in arguments { call.add(argument) }
        return try await broker.run(call).elements ?? []
    }

    private func expectRefusal(_ arguments: [String], _ reason: String) async throws {
        let shown = "\(arguments.prefix(6).map { $0.prefix(80) })"
        let error = await #expect(throws: BrokerError.self, "\(shown)") { try await push(arguments) }
        #expect(error?.code == .refused && error?.message == reason, "\(shown): \(error?.message ?? "taken")")
        #expect(try server.run("DBSIZE") == "0", "\(shown): something was written")
    }

    @Test func anIDWithOtherCharactersOrAnotherLengthIsRejected() async throws {
        defer { broker.close() }
        for id in ["", String(repeating: "x", count: 65), "a b", "a.b", "a:b", "ä", "a\n"] {
            try await expectRefusal(WireJob(id: id).values, "job 1: the id must match [A-Za-z0-9_-]{1,64}")
        }
    }

    @Test func anInvalidTimeIsRejected() async throws {
        defer { broker.close() }
        for due in ["", "-1", "1e3", "1.5", " 1", "soon", String(repeating: "9", count: 16)] {
            try await expectRefusal(WireJob(due: due).values, "job 1: the due time must be milliseconds since 1970")
        }
    }

    @Test func aTimeInSecondsIsRejected() async throws {
        defer { broker.close() }
        for due in ["1000000000", "1795215724", "99999999999", "999999999999"] {
            try await expectRefusal(
                WireJob(due: due).values,
                "job 1: the due time must be milliseconds since 1970; it looks like seconds"
            )
        }
    }

    @Test func anInvalidPolicyIsRejected() async throws {
        defer { broker.close() }
        let policies = [
            "", "x", "I", "id", "drop", "T:1", "t", "t:", "t:0", "t:-1", "t:31536000001", "t:1:2", "b:1", "B", "B:",
            "B:0:1", "B:1:31536000001", "B:1:2:3", "k:1",
        ]
        for policy in policies {
            try await expectRefusal(
                WireJob(policy: policy).values,
                "job 1: the policy must be i, d, r, k, D, R, K, t:WINDOW or B:WINDOW[:AT_MOST]"
            )
        }
    }

    @Test func aNameNeedsAPolicyAndHasALimit() async throws {
        defer { broker.close() }
        let reason = "job 1: a name goes with every policy except i"
        try await expectRefusal(WireJob(name: "name").values, reason)
        for policy in ["d", "r", "k", "D", "R", "K", "t:1", "B:1", "B:1:1"] {
            try await expectRefusal(WireJob.named("", policy).values, reason)
        }
        let long = WireJob.named(String(repeating: "n", count: 1025))
        try await expectRefusal(long.values, "job 1: the name is longer than 1024 bytes")
    }

    @Test func anEnvelopeHasAHeaderOfItsPolicyAndALimit() async throws {
        defer { broker.close() }
        let headers = [
            "", "2i5;;;30\n", "2i5;30;;;;;", "2i5;30;;;;\n", "2d5;30;;;;;\n", "2i5;;;;;;\n", "2i5;30;;;x;;\n",
            "2i5;30;;;;-1;\n", "1d5;;;30\n", "1I5;;;30\n", "1i;;;30\n", "1i5;;30\n", "1i5;;;\n", "1i5;;;30",
            "1i5;-1;;30\n", "1i5;;x;30\n", " 1i5;;;30\n",
        ]
        for header in headers {
            try await expectRefusal(
                WireJob(envelope: WireJob.text(header)).values,
                "job 1: the envelope must begin with a header of version 1 or 2 and the same policy"
            )
        }
        for expiry in ["1795215724000", "+", "+0", "+31536000001", "++1", "1+"] {
            try await expectRefusal(
                WireJob(envelope: WireJob.text("2i5;30;;;\(expiry);;\n")).values,
                "job 1: the expiry in the header must be + and the milliseconds after the push, 1 to 31536000000"
            )
        }
        let long = WireJob().envelope.padding(to: 1_200_001)
        try await expectRefusal(WireJob(envelope: long).values, "job 1: the envelope is longer than 1200000 bytes")
    }

    @Test func aCallTakesOneToAThousandWholeJobs() async throws {
        defer { broker.close() }
        let many = (0..<1001).flatMap { WireJob(id: "job-\($0)").values }
        let wrong: [[String]] = [[], WireJob().values.dropLast(), WireJob().values + ["more"], many]
        for arguments in wrong {
            try await expectRefusal(arguments, "push takes 1 to 1000 jobs of 5 values each")
        }
        let answer = try await push(Array(many.dropLast(5)))
        #expect(answer.count == 1001 && answer.dropFirst().allSatisfy { $0.text == "a" })
    }

    @Test func everyJobIsCheckedBeforeAnyIsWritten() async throws {
        defer { broker.close() }
        let jobs = [WireJob(id: "first"), WireJob.named("name"), WireJob(id: "a third one")]
        try await expectRefusal(jobs.flatMap(\.values), "job 3: the id must match [A-Za-z0-9_-]{1,64}")
    }

    @Test func valuesAtTheLimitsAreAccepted() async throws {
        defer { broker.close() }
        var job = WireJob.named(String(repeating: "n", count: 1024), "R")
        job.id = String(repeating: "x", count: 64)
        job.due = String(repeating: "9", count: 15)
        job.envelope = job.envelope.padding(to: 1_200_000)
        #expect(try await push(job.values).map(\.text) == ["1", "a"])
        #expect(try server.run("HSTRLEN", "errand:{default}:body", job.id) == "1200013")
    }
}

extension String {
    /// Pads a text to this many bytes.
    fileprivate func padding(to count: Int) -> String { self + String(repeating: "x", count: count - utf8.count) }
}
