import Errand
import ErrandRedis
import Logging
import TestSupport
import Testing

/// Concurrent pushes to a real server.
struct PushBatcherTests {
    private let server: RedisServer
    private let broker: RedisBroker

    init() throws {
        server = try RedisServer()
        broker = try RedisBroker(RedisAddress(url: server.url), logger: Logger(label: "batcher"))
    }

    @Test func pushesOfManyTasksShareCalls() async throws {
        defer { broker.close() }
        let producer = Producer(broker: broker)
        let receipts = try await withThrowingTaskGroup(of: [Receipt].self) { group in
            for _ in 0..<64 {
                group.addTask {
                    var receipts: [Receipt] = []
                    for _ in 0..<20 { receipts.append(try await producer.push(OperationDescription("noop"))) }
                    return receipts
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(receipts.map(\.id)).count == 1280)
        #expect(receipts.allSatisfy { $0.outcome == .accepted })
        #expect(try server.run("LLEN", "errand:{default}:ready:5") == "1280")
        let calls = try #require(try scriptCalls())
        #expect(calls < 640, "\(calls) calls for 1,280 pushes")
    }

    #if os(Linux)
        @Test func cancellingTheLeaderOfACallLetsTheOthersBePushed() async throws {
            defer { broker.close() }
            let producer = Producer(broker: broker)
            try server.run("CONFIG", "SET", "min-replicas-to-write", "1")
            // Each of them is waiting when the next one starts: two are sent at once, and the third shares a call with
            // the fourth.
            let pushes = try (0..<4).map { number in
                let job = try OperationDescription("noop", id: "job-\(number)")
                return Task.immediate { try await producer.push(job) }
            }
            pushes[0].cancel()
            _ = await pushes[0].result
            pushes[2].cancel()
            let refused = try refusals()
            try await eventually("they are tried again") { try refusals() > refused + 3 }
            try server.run("CONFIG", "SET", "min-replicas-to-write", "0")
            #expect(try await pushes[3].value.outcome == .accepted)
            #expect(try await pushes[1].value.outcome == .accepted)
        }
    #endif

    @Test func aLostCallDoesNotBlockTheNextPushes() async throws {
        defer { broker.close() }
        let producer = Producer(broker: broker)
        _ = try await producer.push(OperationDescription("noop"))
        try server.run("CLIENT", "PAUSE", "600000", "WRITE")
        let pushes = Task {
            try await withThrowingTaskGroup(of: Receipt.self) { group in
                for number in 0..<50 {
                    group.addTask { try await producer.push(OperationDescription("noop", id: "job-\(number)")) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        while !(try server.run("INFO", "clients").contains("blocked_clients:1")) { await Task.yield() }
        try server.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        try server.run("CLIENT", "UNPAUSE")
        let receipts = try await pushes.value
        #expect(Set(receipts.map(\.id)).count == 50)
        #expect(receipts.contains { $0.outcome == .unknown })
        for receipt in receipts where receipt.outcome != .unknown {
            #expect(try server.run("HEXISTS", "errand:{default}:body", receipt.id) == "1")
        }
        #expect(try await producer.push(OperationDescription("noop")).outcome == .accepted)
    }

    @Test func withoutAServerEveryPushFails() async throws {
        broker.close()
        let options = ConnectionOptions(patience: .milliseconds(100))
        let address = try RedisAddress(url: "redis://127.0.0.1:1")
        let lonely = RedisBroker(address, options: options, logger: Logger(label: "batcher"))
        defer { lonely.close() }
        let producer = Producer(broker: lonely)
        let failures = await withTaskGroup(of: BrokerError.Code?.self) { group in
            for _ in 0..<1600 {
                group.addTask {
                    await #expect(throws: BrokerError.self) { try await producer.push(OperationDescription("noop")) }?
                        .code
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(failures == Array(repeating: .notReachable, count: 1600))
    }

    private func refusals() throws -> Int {
        let line = try server.run("INFO", "errorstats").firstMatch(of: /errorstat_NOREPLICAS:count=(\d+)/)
        return line.flatMap { Int($0.output.1) } ?? 0
    }

    private func scriptCalls() throws -> Int? {
        let line = try server.run("INFO", "commandstats").split(whereSeparator: \.isNewline).first {
            $0.hasPrefix("cmdstat_evalsha:")
        }
        return line?.firstMatch(of: /calls=(\d+)/).flatMap { Int($0.output.1) }
    }
}
