import TestSupport
import Testing

/// The console with a registry of queues that is not a set.
@Suite struct ConsoleRegistryTests {
    private let server: RedisServer

    init() async throws {
        server = try RedisServer(durable: true)
        for queue in ["alpha", "beta"] {
            _ = try await Executable.producer.run(["push", "work", "--queue", queue], on: server)
        }
        try corrupt()
    }

    private func corrupt() throws {
        try server.run("DEL", "errand:queues")
        try server.run("SET", "errand:queues", "boo")
    }

    private func doctor(_ arguments: String...) async throws -> Output {
        try await Executable.console.run(["doctor", "--json"] + arguments, on: server)
    }

    private func kinds(_ output: Output) throws -> [String] {
        try (output.object["findings"]?.items ?? []).compactMap { $0["kind"]?.string }
    }

    @Test(arguments: [["status"], ["jobs"], ["schedule", "list"], ["jobs", "cancel", "--yes"], ["job", "show", "x"]])
    func `every command that lists the queues names the key`(_ command: [String]) async throws {
        let output = try await Executable.console.run(command, on: server)
        #expect(output.status == 78)
        #expect(output.error.contains("errand:queues is a string but must be a set"), "\(output.error)")
    }

    @Test func `the doctor reports it, and examines the queues that have keys`() async throws {
        try server.run("DEL", "errand:{beta}:ready:5")
        let output = try await doctor()
        #expect(output.status == 1, "\(output.error)")
        #expect(try output.object["problem"] == .null)
        let expected = ["registry_wrong_type", "queue_unregistered", "queue_unregistered", "body_without_position"]
        #expect(try kinds(output) == expected)
        let finding = try output.object["findings"]?.items.first
        #expect(finding?["queue"] == .null && finding?["subject"] == "errand:queues")
        let text = try await Executable.console.run(["doctor"], on: server)
        #expect(text.text.contains("registry_wrong_type: errand:queues: "), "\(text.text)")
    }

    @Test func `a repair moves the key aside, each time, and registers the queues again`() async throws {
        for _ in 0..<2 {
            let output = try await doctor("--repair")
            #expect(try kinds(output) == ["registry_wrong_type", "queue_unregistered", "queue_unregistered"])
            #expect(try output.object["findings"]?.items.allSatisfy { $0["repaired"] == true } == true)
            #expect(try await doctor().status == 0)
            let status = try await Executable.console.run(["status", "--json"], on: server)
            #expect(try status.object["queues"]?.items.compactMap { $0["name"]?.string } == ["alpha", "beta"])
            try corrupt()
        }
        #expect(try server.run("GET", "errand:corrupt:{errand:queues}") == "boo")
        #expect(try server.run("KEYS", "errand:corrupt:{errand:queues}:*").isEmpty == false)
    }

    @Test func `queues can still be pushed to, created and deleted`() async throws {
        let push = try await Executable.producer.run(["push", "work", "--queue", "gamma"], on: server)
        #expect(push.status == 0, "\(push.error)")
        let delete = try await Executable.console.run(["queue", "delete", "alpha", "--force"], on: server)
        #expect(delete.status == 0 && delete.text.contains("is deleted"), "\(delete.error)")
    }

    @Test func `it reports nothing about a worker`() async throws {
        let check = try await Executable.console.run(["worker-check", "--host", "nowhere.example"], on: server)
        #expect(check.status == 0, "\(check.error)")
    }
}
