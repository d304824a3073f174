import ErrandCommandLine
import ErrandRedis
import Foundation
import TestSupport
import Testing

/// The doctor's advice on a server: each piece exactly if the server's facts require it.
struct ServerAdviceTests {
    /// A server that needs no advice.
    private static let sound = [
        "redis_version": "7.0.0", "role": "master", "maxmemory_policy": "noeviction", "used_memory": "1000",
        "maxmemory": "2000", "total_system_memory": "100000", "aof_enabled": "1", "rdb_last_bgsave_status": "ok",
        "aof_last_write_status": "ok", "aof_last_bgrewrite_status": "ok",
    ]
    private static let settings = [
        "appendfsync": "everysec", "save": "3600 1",
        "client-output-buffer-limit": "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60",
    ]

    /// The advice of that server with some of its facts changed.
    private func advice(
        _ info: [String: String] = [:],
        settings: [String: String] = [:],
        clock: Int? = 0,
        roundTrip: Double = 0.1
    ) -> [Advice] {
        let lines = Self.sound.merging(info) { $1 }.map { "\($0):\($1)" }.sorted().joined(separator: "\r\n")
        let facts = ServerFacts(
            info: RedisInfo(text: "# Server\r\n" + lines),
            settings: Self.settings.merging(settings) { $1 },
            clockOffset: clock,
            roundTrip: roundTrip
        )
        return ServerAdvice(facts: facts).advice
    }

    private func kinds(
        _ info: [String: String] = [:],
        settings: [String: String] = [:],
        clock: Int? = 0,
        roundTrip: Double = 0.1
    ) -> [String] {
        advice(info, settings: settings, clock: clock, roundTrip: roundTrip).map(\.kind)
    }

    @Test func aSoundServerNeedsNoAdvice() {
        #expect(kinds() == [])
        #expect(kinds(clock: nil) == [], "an unknown clock")
    }

    @Test(arguments: [
        ("7.2.4", false), ("8.0.1", false), ("10.1", false), ("6.2.14", true), ("5.0", true), ("unstable", true),
        ("", true),
    ]) func aServerBeforeSevenIsTooOld(version: String, isAdvice: Bool) {
        #expect(kinds(["redis_version": version]) == (isAdvice ? ["version"] : []))
    }

    @Test func aReplicaIsUnsuitable() {
        let found = advice(["role": "slave"])
        #expect(found.map(\.kind) == ["role"])
        #expect(found.first?.message.contains("slave") == true)
    }

    @Test(arguments: ["allkeys-lru", "allkeys-random", "volatile-lru", "volatile-ttl"])
    func aServerThatEvictsKeysIsUnsuitable(policy: String) {
        #expect(kinds(["maxmemory_policy": policy]) == ["maxmemory_policy"])
    }

    @Test func memoryThatRunsOutIsReportedInTime() {
        let cases: [(used: Int, most: Int, machine: Int, kinds: [String])] = [
            (800, 1000, 10, []), (801, 1000, 100_000, ["memory"]), (1200, 1000, 100_000, ["memory"]),
            (700, 0, 1000, []), (701, 0, 1000, ["maxmemory"]), (701, 0, 0, []),
        ]
        for (used, most, machine, expected) in cases {
            let info = ["used_memory": "\(used)", "maxmemory": "\(most)", "total_system_memory": "\(machine)"]
            #expect(kinds(info) == expected, "\(info)")
        }
        #expect(kinds(["maxmemory": "unknown"]) == [])
    }

    @Test func theLossByACrashIsReported() {
        let off = advice(["aof_enabled": "0"])
        #expect(off.map(\.kind) == ["appendonly"])
        #expect(off.first?.message.contains("since its last snapshot") == true)
        let nothing = advice(["aof_enabled": "0"], settings: ["save": ""])
        #expect(nothing.map(\.kind) == ["appendonly"])
        #expect(nothing.first?.message.contains("every job it has") == true)
        #expect(kinds(["aof_enabled": "0"], settings: ["appendfsync": "no"]) == ["appendonly"])
        #expect(kinds(settings: ["appendfsync": "no"]) == ["appendfsync"])
        #expect(kinds(settings: ["appendfsync": "always"]) == [])
    }

    @Test(arguments: ["rdb_last_bgsave_status", "aof_last_write_status", "aof_last_bgrewrite_status"])
    func dataThatCannotBeWrittenIsReported(_ status: String) {
        let failed = advice([status: "err"])
        #expect(failed.map(\.kind) == ["persistence"])
        #expect(failed.first?.message.contains(status) == true)
    }

    @Test(arguments: [(0, true), (1, true), (1_048_575, true), (1_048_576, false)])
    func subscribersWithoutALimitOrWithATooSmallOneAreReported(_ bytes: Int, _ isAdvice: Bool) {
        let limit = "normal 0 0 0 slave 0 0 0 pubsub \(bytes) 8388608 60"
        let found = advice(settings: ["client-output-buffer-limit": limit])
        #expect(found.map(\.kind) == (isAdvice ? ["output_buffers"] : []))
        if isAdvice { #expect(found.first?.message.contains("unlimited") == (bytes == 0)) }
    }

    @Test(arguments: [(0, false), (1, true), (2 << 20, true), ((16 << 20) - 1, true), (16 << 20, false)])
    func repliesThatWouldBeCutOffAreReported(_ bytes: Int, _ isAdvice: Bool) {
        let limit = "normal \(bytes) 0 0 slave 0 0 0 pubsub 33554432 8388608 60"
        #expect(kinds(settings: ["client-output-buffer-limit": limit]) == (isAdvice ? ["reply_limit"] : []))
    }

    @Test(arguments: [
        ("client-query-buffer-limit", "1048576", true), ("client-query-buffer-limit", "16777216", false),
        ("client-query-buffer-limit", "0", false), ("proto-max-bulk-len", "1048576", true),
        ("proto-max-bulk-len", "2097152", false), ("proto-max-bulk-len", "unknown", false),
    ])
    func requestsThatWouldBeCutOffAreReported(_ name: String, _ value: String, _ isAdvice: Bool) {
        let found = advice(settings: [name: value])
        #expect(found.map(\.kind) == (isAdvice ? ["request_limit"] : []))
        if isAdvice { #expect(found.first?.message.contains(name) == true) }
    }

    @Test func aServerWhoseDiskIsFullMustNotBeStopped() {
        let found = advice(["aof_last_write_status": "err", "aof_last_bgrewrite_status": "err"])
        #expect(found.map(\.kind) == ["persistence"])
        #expect(found.first?.message.contains("do not stop it") == true)
        let rewrite = advice(["aof_last_bgrewrite_status": "err"])
        #expect(rewrite.first?.message.contains("refuses") == false, "a failed rewrite is no reason to refuse anything")
    }

    @Test(arguments: [(1000, false), (-1000, false), (1001, true), (-1001, true), (Int.min, true)])
    func aClockThatIsFarOffIsReported(_ offset: Int, _ isAdvice: Bool) {
        let found = advice(clock: offset)
        #expect(found.map(\.kind) == (isAdvice ? ["clock"] : []))
        if isAdvice { #expect(found.first?.message.contains(offset > 0 ? "ahead of" : "behind") == true) }
    }

    @Test(arguments: [(50.0, false), (50.5, true), (300.0, true)]) func aDistantServerIsReported(
        _ milliseconds: Double,
        _ isAdvice: Bool
    ) {
        #expect(kinds(roundTrip: milliseconds) == (isAdvice ? ["latency"] : []))
    }

    @Test func missingPermissionsAreReportedAndNothingIsGuessed() {
        let facts = ServerFacts(info: nil, refusal: "NOPERM", settings: [:], clockOffset: 0, roundTrip: 0.1)
        let found = ServerAdvice(facts: facts).advice
        #expect(found.map(\.kind) == ["settings_hidden"])
        #expect(found.first?.message.contains("INFO") == true && found.first?.message.contains("CONFIG GET") == true)
        let half = ServerFacts(info: nil, settings: Self.settings, clockOffset: 0, roundTrip: 0.1)
        #expect(ServerAdvice(facts: half).advice.first?.message.contains("CONFIG GET") == false)
        var unlisted = ServerFacts(
            info: RedisInfo(text: ""),
            settings: Self.settings,
            clockOffset: 0,
            roundTrip: 0.1
        )
        unlisted.mayListKeys = false
        #expect(ServerAdvice(facts: unlisted).advice.first?.message.contains("SCAN") == true)
    }

    @Test func allProblemsAreReported() {
        let info = ["redis_version": "6.0", "role": "slave", "maxmemory_policy": "allkeys-lru", "aof_enabled": "0"]
        #expect(
            kinds(info, clock: 5000, roundTrip: 80)
                == ["version", "role", "maxmemory_policy", "appendonly", "clock", "latency"]
        )
    }

    @Test func aWorkerWarnsAtItsStartThatTheServerEvictsKeys() async throws {
        let server = try RedisServer(["--maxmemory-policy", "allkeys-lru"])
        let catalogue = server.directory + "/catalogue.yaml"
        try "operations: {work: {run: [true]}}".write(toFile: catalogue, atomically: true, encoding: .utf8)
        let worker = try RunningExecutable(.worker, ["--catalogue", catalogue, "--redis", server.url])
        let line = try await worker.errorLine { $0.contains("maxmemory-policy") }
        #expect(line.contains("allkeys-lru") && line.contains("noeviction"), "\(line)")
        worker.signal(SIGTERM)
        let output = await worker.end()
        #expect(output.status == 0)
        #expect(!output.error.contains("appendonly"), "what only the doctor says")
    }
}
