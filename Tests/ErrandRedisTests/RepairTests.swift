import Errand
import TestSupport
import Testing

@testable import ErrandRedis

/// Repairs of data that was lost while jobs with names ran and were pushed: no job is stopped, run twice or locked out.
struct RepairTests {
    private let server: RedisServer
    private let broker: RedisBroker
    private let key = "errand:{default}:"

    init() throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
    }

    private func push(_ id: String, _ name: String, _ policy: UniquenessPolicy = .drop) async throws -> Receipt.Outcome
    {
        let job = try OperationDescription("work", name: name, unique: policy, id: id).makeEnvelope()
        return try #require(try await broker.push([job], to: "default").first).outcome
    }

    private func claims(_ session: String, _ wanted: Int = 1) async throws -> (Calls, [Claim]) {
        let session = FullQueue.session(session)
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        let claims = try await calls.claim(wanted)
        return (calls, claims)
    }

    @Test func aRunWithALostNameStopsNoOtherRun() async throws {
        defer { broker.close() }
        #expect(try await push("first", "name") == .accepted)
        var (first, firstClaims) = try await claims("sessionA")
        try server.run("DEL", key + "unique")
        #expect(try await push("second", "name") == .accepted)
        var (second, secondClaims) = try await claims("sessionB")
        let findings = try await broker.audit("default", repair: true)
        #expect(findings.map(\.kind) == ["name_not_held"] && findings.allSatisfy { !$0.repaired }, "\(findings)")
        #expect(try server.run("EXISTS", key + "stops", key + "successors") == "0")
        try await first.report(try #require(firstClaims.first), .finished)
        try await second.report(try #require(secondClaims.first), .finished)
        #expect(try await broker.status(of: "default").queue.totals["finished"] == 2)
        #expect(try await broker.audit("default", repair: false) == [])
    }

    @Test func anEntryWithoutAJobIsRemovedInOneRepair() async throws {
        defer { broker.close() }
        #expect(try await push("first", "name") == .accepted)
        // Both records refer to each other, and the job does not exist.
        try server.run("HSET", key + "alias", "entry", "nobody")
        try server.run("HSET", key + "alias:of", "nobody", "entry")
        let findings = try await broker.audit("default", repair: true)
        #expect(findings.map(\.kind).sorted() == ["alias_of_without_job", "alias_without_owner"], "\(findings)")
        #expect(try await broker.audit("default", repair: false) == [])
    }

    @Test func aWaitingJobWithALostNameRunsOnce() async throws {
        defer { broker.close() }
        #expect(try await push("first", "name") == .accepted)
        try server.run("DEL", key + "unique")
        #expect(try await push("second", "name") == .accepted)
        // The second job runs, and the first one is ready.
        try server.run("LREM", key + "ready:5", "1", "first")
        try server.run("RPUSH", key + "ready:5", "first")
        var (calls, running) = try await claims("sessionA")
        #expect(running.map(\.id) == ["second"])
        _ = try await broker.audit("default", repair: true)
        try await calls.report(try #require(running.first), .finished)
        let next = try await calls.claim(5)
        #expect(next.map(\.id) == ["first"])
        for claim in next { try await calls.report(claim, .finished) }
        #expect(try await broker.audit("default", repair: false) == [])
    }

    @Test func aRetriedJobThatLostItsPositionIsReadyAgain() async throws {
        defer { broker.close() }
        #expect(try await push("job", "name") == .accepted)
        var (calls, claims) = try await claims("sessionA")
        try await calls.report(try #require(claims.first), .failed)
        #expect(try await broker.retry(["job"], on: "default") == [.retried])
        try server.run("DEL", key + "ready:5")
        let findings = try await broker.audit("default", repair: true)
        #expect(findings.map(\.kind) == ["body_without_position"] && findings.allSatisfy(\.repaired), "\(findings)")
        #expect(try await push("other", "name", .replace) == .replaced)
        claims = try await calls.claim(5)
        #expect(claims.map(\.id) == ["other"])
    }

    @Test func aDeadJobThatLostItsPositionHoldsNoName() async throws {
        defer { broker.close() }
        #expect(try await push("job", "name") == .accepted)
        var (calls, claims) = try await claims("sessionA")
        try await calls.report(try #require(claims.first), .failed)
        try server.run("DEL", key + "dead")
        // As in a partly restored backup.
        try server.run("HSET", key + "unique:of", "job", "name")
        try server.run("HSET", key + "unique", "name", "job")
        _ = try await broker.audit("default", repair: true)
        #expect(try server.run("ZSCORE", key + "dead", "job").isEmpty == false)
        #expect(try await push("other", "name") == .accepted)
        #expect(try await broker.audit("default", repair: false) == [])
    }

    @Test func aBatchIsAcceptedThoughAHoldersClaimsAreCorrupt() async throws {
        defer { broker.close() }
        #expect(try await push("holder", "name") == .accepted)
        _ = try await claims("sessionA")
        try server.run("DEL", key + "claims:sessionA")
        try server.run("SET", key + "claims:sessionA", "corrupt")
        let jobs = [
            try OperationDescription("work", id: "plain").makeEnvelope(),
            try OperationDescription("work", name: "name", unique: .drop, id: "named").makeEnvelope(),
        ]
        let receipts = try await broker.push(jobs, to: "default")
        #expect(receipts.map(\.outcome) == [.accepted, .dropped])
        #expect(receipts.last?.id == "holder")
        #expect(try server.run("HGET", key + "counters", "pushed") == "2")
    }

    /// Lets a holder run with a successor of this policy, then removes the records of the succession.
    private func loseSuccession(_ letter: String, due: Int64? = nil) async throws {
        #expect(try await push("holder", "name") == .accepted)
        _ = try await claims("sessionA")
        let job = try OperationDescription("work", name: "name", unique: .replace, notBefore: due, id: "second")
        #expect(try await broker.push([job.makeEnvelope()], to: "default").map(\.outcome) == [.deferred])
        let body = try server.run("HGET", key + "body", "second")
        let changed = body.prefix(14) + letter + body.dropFirst(15)
        try server.run("HSET", key + "body", "second", String(changed))
        try server.run("DEL", key + "successors", key + "stops")
        #expect(try await broker.audit("default", repair: true).allSatisfy(\.repaired))
        #expect(try await broker.audit("default", repair: false) == [])
    }

    @Test(arguments: ["d": "", "D": "", "r": "replace", "R": "replace"])
    func onlyASuccessorThatRequestedAStopRequestsItAgain(_ letter: String, _ stop: String) async throws {
        defer { broker.close() }
        try await loseSuccession(letter)
        #expect(try server.run("HGET", key + "successors", "holder") == "0:second")
        #expect(try server.run("HGET", key + "stops", "holder") == stop)
    }

    @Test func aSuccessorThatIsDueLaterStaysScheduled() async throws {
        defer { broker.close() }
        try await loseSuccession("r", due: 4_000_000_000_000)
        #expect(try server.run("HGET", key + "successors", "holder") == "4000000000000:second")
    }

    @Test(arguments: [UniquenessPolicy.drop, .replace])
    func aNameThatIsHeldUntilTheStartIsRestored(_ policy: UniquenessPolicy) async throws {
        defer { broker.close() }
        let job = try OperationDescription("work", name: "name", unique: policy, uniqueUntil: .started, id: "first")
        _ = try await broker.push([job.makeEnvelope()], to: "default")
        try server.run("DEL", key + "unique:of")
        let findings = try await broker.audit("default", repair: true)
        #expect(findings.map(\.kind) == ["holder_unaware"], "\(findings)")
        #expect(try await push("second", "name") == .dropped)
    }

    @Test func namesWithoutAHolderThatHasThemAreFree() async throws {
        defer { broker.close() }
        func jobs(_ ids: String...) throws -> [JobEnvelope] {
            try zip(ids, ["gone", "unaware", "held"]).map { id, name in
                try OperationDescription("work", name: name, unique: .drop, id: id).makeEnvelope()
            }
        }
        _ = try await broker.push(jobs("a", "b", "c"), to: "default")
        try server.run("HDEL", key + "body", "a")
        try server.run("HDEL", key + "unique:of", "b")
        let outcomes = try await broker.push(jobs("d", "e", "f"), to: "default").map(\.outcome)
        #expect(outcomes == [.accepted, .accepted, .dropped])
        #expect(try server.run("HMGET", key + "unique", "gone", "unaware", "held") == "d\ne\nc")
    }

    @Test func aRepairKeepsWhatAnEarlierOneMovedAside() async throws {
        defer { broker.close() }
        for text in ["one", "two", "three"] {
            try server.run("DEL", key + "settings")
            try server.run("SET", key + "settings", text)
            #expect(try await broker.audit("default", repair: true).map(\.kind) == ["wrong_type"])
        }
        let kept = try server.run("KEYS", key + "corrupt:settings*").split(whereSeparator: \.isNewline).map(String.init)
        #expect(Set(try kept.map { try server.run("GET", $0) }) == ["one", "two", "three"])
        #expect(try await broker.status(of: "default").queue.isPaused, "it may have been")
    }
}
