import ErrandDashboard
import ErrandRedis
import Foundation
import Logging
import TestSupport
import Testing

/// The commands on a cluster, and what they say of a server that does not reply.
@Suite(.timeLimit(.minutes(4))) struct ConsoleClusterTests {
    private let cluster: RedisCluster
    private let queues = ["a", "b", "c", "d", "e", "f"]

    init() throws { cluster = try RedisCluster() }

    private func run(_ executable: Executable, _ arguments: [String], input: String = "") async throws -> Output {
        try await executable.run(arguments, input: Array(input.utf8), environment: ["ERRAND_REDIS_URL": cluster.url])
    }

    private func push() async throws {
        for queue in queues { #expect(try await run(.producer, ["push", "work", "--queue", queue]).status == 0) }
    }

    @Test func statusAndDoctorNameTheServersAndTheirQueues() async throws {
        try await push()
        let status = try await run(.console, ["status", "--json"])
        #expect(status.status == 0)
        let overview = try JSONDecoder().decode(Overview.self, from: Data(status.bytes))
        #expect(overview.queues.map(\.name) == queues)
        #expect(overview.unreachable == [])
        #expect(Set(overview.servers.map(\.address)) == Set(cluster.masters.map { "127.0.0.1:\($0.port)" }))
        #expect(overview.servers.flatMap(\.queues).sorted() == queues)
        for queue in queues {
            let port = try cluster.server(of: queue).port
            #expect(overview.servers.first { $0.queues.contains(queue) }?.address == "127.0.0.1:\(port)")
        }
        let doctor = try await run(.console, ["doctor"])
        #expect(doctor.status == 0)
        #expect(doctor.text.contains("cluster-require-full-coverage"))
        #expect(doctor.text.contains("no replica follows"))
        for master in cluster.masters { #expect(doctor.text.contains("127.0.0.1:\(master.port): appendonly is off")) }
    }

    @Test func theDoctorNamesAQueueThatIsTooLargeToMove() async throws {
        try await push()
        let script = "for i = 1, 110 do redis.call('HSET', KEYS[1], 'job' .. i, string.rep('x', 1048576)) end"
        try cluster.server(of: "b").run("EVAL", script, "1", "errand:{b}:body")
        let doctor = try await run(.console, ["doctor", "--json"])
        let advice = doctor.text.components(separatedBy: #""kind":"large_queue""#).dropFirst()
        #expect(advice.count == 1 && advice.first?.hasPrefix(#","queue":"b""#) == true, "\(doctor.text.suffix(600))")
    }

    /// Kills the server of some queues, which is not that of the registry.
    private func loseServer() throws -> (server: RedisServer, queues: [String]) {
        for server in cluster.masters { try server.run("CONFIG", "SET", "cluster-require-full-coverage", "no") }
        let registry = try cluster.masters.first { try $0.run("EXISTS", "errand:queues") == "1" }
        let lost = try #require(try queues.map { try cluster.server(of: $0) }.first { $0.port != registry?.port })
        let gone = try queues.filter { try cluster.server(of: $0).port == lost.port }
        lost.kill(SIGKILL)
        return (lost, gone)
    }

    @Test func `lines for the queues of other servers are pushed`() async throws {
        try await push()
        let (_, gone) = try loseServer()
        let others = queues.filter { !gone.contains($0) }
        let lines = (gone + others + gone).map { #"{"operation":"work","queue":"\#($0)"}"# }
        let output = try await run(.producer, ["push", "--from", "-", "--json"], input: lines.joined(separator: "\n"))
        #expect(output.status == 69, "\(output.error)")
        #expect(try output.objects.map { $0["queue"]?.string } == others)
        for (index, queue) in gone.enumerated() {
            let place = "lines \(index + 1) and \(queues.count + index + 1) not pushed to queue \(queue): "
            #expect(output.error.contains(place), "\(output.error)")
        }
        #expect(output.error.contains("\(others.count) accepted, \(2 * gone.count) not pushed"), "\(output.error)")
    }

    @Test func `jobs of other servers are listed, exported and cancelled`() async throws {
        try await push()
        let (lost, gone) = try loseServer()
        let others = queues.filter { !gone.contains($0) }
        let commands = [
            [], ["--state", "dead"], ["--state", "dead", "--by-error"], ["export"],
            ["cancel", "--state", "ready", "--yes"],
        ]
        for command in commands {
            let output = try await run(.console, ["jobs"] + command + (command == ["export"] ? [] : ["--json"]))
            #expect(output.status == 69, "\(command): \(output.error)")
            for queue in gone {
                let warning = "queue \(queue) cannot be read: 127.0.0.1:\(lost.port) does not reply"
                #expect(output.error.contains(warning), "\(command): \(output.error)")
            }
            if command == [] || command == ["export"] {
                #expect(try output.objects.map { $0["queue"]?.string } == others, "\(command)")
            }
            if command.first == "cancel" { #expect(try output.object["done"]?.integer == Int64(others.count)) }
        }
        let broker = try RedisBroker(url: cluster.url, logger: Logger(label: "dashboard"))
        defer { broker.close() }
        let (status, text, _) = try await DashboardScene.ask(dashboard(broker), "/jobs")
        #expect(status == 200 && gone.allSatisfy { text.contains("queue \($0)") }, "\(text)")
    }

    @Test func aQueueWhoseSlotIsBeingMovedIsNamedAndTheOthersAreShown() async throws {
        try await push()
        let source = try cluster.server(of: "c")
        let target = try #require(cluster.masters.first { $0.port != source.port })
        try cluster.beginMoving("c", to: target)
        let others = queues.filter { $0 != "c" }
        let jobs = try await run(.console, ["jobs", "--json"])
        #expect(jobs.status == 69, "\(jobs.error)")
        #expect(
            jobs.error.contains("queue c cannot be read: redis://127.0.0.1:\(source.port)/0 cannot serve now"),
            "\(jobs.error)"
        )
        #expect(try jobs.objects.map { $0["queue"]?.string } == others)
        let doctor = try await run(.console, ["doctor", "--json"])
        #expect(doctor.status == 69, "\(doctor.error)")
        #expect(doctor.text.contains(#""unexamined":["c"]"#), "\(doctor.text)")
        #expect(doctor.error.contains("not everything was examined: queue c cannot be read"), "\(doctor.error)")
        let cancelled = try await run(.console, ["jobs", "cancel", "--operation", "work", "--yes", "--json"])
        #expect(cancelled.status == 69, "\(cancelled.error)")
        #expect(try cancelled.object["done"]?.integer == Int64(others.count))
    }

    @Test func aLostServerIsNamedAndTheOthersAreShown() async throws {
        try await push()
        let (lost, gone) = try loseServer()
        let status = try await run(.console, ["status", "--json"])
        #expect(status.status == 69)
        let overview = try JSONDecoder().decode(Overview.self, from: Data(status.bytes))
        #expect(overview.unreachable == ["127.0.0.1:\(lost.port)"])
        #expect(overview.queues.map(\.name) == queues.filter { !gone.contains($0) })
        for queue in gone {
            #expect(status.error.contains("queue \(queue) cannot be read: 127.0.0.1:\(lost.port) does not reply"))
        }
        let doctor = try await run(.console, ["doctor", "--json"])
        #expect(doctor.status == 69)
        #expect(doctor.text.contains(#""unreachable":["127.0.0.1:\#(lost.port)"]"#))
        #expect(doctor.text.contains(#""unexamined":["\#(gone.joined(separator: #"",""#))"]"#), "\(doctor.text)")
        #expect(doctor.error.contains("not everything was examined"), "\(doctor.error)")
        #expect(doctor.error.contains("with \(gone.joined(separator: ", "))"), "\(doctor.error)")
        let rows = try await serversOnTheDashboard()
        #expect(rows.count == 3)
        for master in cluster.masters {
            let row = try #require(rows.first { $0.contains("127.0.0.1:\(master.port)") })
            #expect(row.contains("no reply") == (master.port == lost.port), "\(row)")
            let own =
                try lost.port == master.port
                ? gone : queues.filter { try !gone.contains($0) && cluster.server(of: $0).port == master.port }
            #expect(row.contains(">\(own.joined(separator: ", "))</td>"), "\(row)")
        }
    }

    @Test func theQueuesOfOtherServersAreShownWithoutTheirList() async throws {
        for server in cluster.masters { try server.run("CONFIG", "SET", "cluster-require-full-coverage", "no") }
        try await push()
        let registry = try #require(try cluster.masters.first { try $0.run("EXISTS", "errand:queues") == "1" })
        let others = try queues.filter { try cluster.server(of: $0).port != registry.port }
        let other = try #require(others.first)
        registry.kill(SIGKILL)
        let status = try await run(.console, ["status", "--json"])
        #expect(status.status == 69)
        #expect(status.error.contains("the list of queues cannot be read"), "\(status.error)")
        let overview = try JSONDecoder().decode(Overview.self, from: Data(status.bytes))
        #expect(overview.unreachable == ["127.0.0.1:\(registry.port)"])
        #expect(overview.queues.map(\.name) == others)
        #expect(try await run(.console, ["status", "--queue", other]).text.contains(other))
        let doctor = try await run(.console, ["doctor", "--json"])
        #expect(doctor.status == 69)
        #expect(doctor.text.contains(#""findings":[]"#))
        #expect(doctor.error.contains("not everything was examined"), "\(doctor.error)")
        #expect(doctor.error.contains("the list of queues cannot be read"), "\(doctor.error)")
        // Only with a name it acts on some of the queues.
        let cancelling = try await run(.console, ["jobs", "cancel", "--state", "ready", "--yes"])
        #expect(cancelling.status == 69 && cancelling.error.contains("--queue"), "\(cancelling.error)")
        let searching = try await run(.console, ["why", "some-job"])
        #expect(searching.status == 69 && searching.error.contains("--queue"), "\(searching.error)")
        let broker = try RedisBroker(url: cluster.url, logger: Logger(label: "dashboard"))
        defer { broker.close() }
        let dashboard = dashboard(broker)
        for page in ["/", "/jobs", "/workers", "/schedules", "/events", "/queues/\(other)"] {
            let (status, text, _) = try await DashboardScene.ask(dashboard, page)
            #expect(status == 200, "\(page)")
            #expect(text.contains("the list of queues cannot be read"), "\(page)")
            #expect(page == "/workers" || text.contains(other), "\(page)")
        }
        let (code, metrics, _) = try await DashboardScene.ask(dashboard, "/metrics")
        #expect(code == 200)
        for queue in others {
            #expect(metrics.contains(#"errand_jobs{queue="\#(queue)",state="ready"} 1"#), "\(metrics)")
        }
        for master in cluster.masters {
            let up =
                #"errand_server_up{server="127.0.0.1:\#(master.port)",role="master"} \#(master.port == registry.port ? 0 : 1)"#
            #expect(metrics.contains(up), "\(metrics)")
        }
        #expect(try await DashboardScene.ask(dashboard, "/readyz").status == 200)
    }

    private func dashboard(_ broker: RedisBroker) -> ErrandDashboard {
        ErrandDashboard(broker: broker, hosts: .any, logger: Logger(label: "dashboard")) { _ in .acting(as: "Ada") }
    }

    /// The rows of the table of servers on the overview page.
    private func serversOnTheDashboard() async throws -> [Substring] {
        let broker = try RedisBroker(url: cluster.url, logger: Logger(label: "dashboard"))
        defer { broker.close() }
        let dashboard = dashboard(broker)
        let page = try await DashboardScene.ask(dashboard, "/").text
        let table = try #require(page.components(separatedBy: "<h2 id=\"servers\">").last)
        return table.split(separator: "<tr>").filter { $0.contains("127.0.0.1:") }
    }

    private struct Overview: Decodable {
        struct Queue: Decodable { let name: String }
        struct Server: Decodable {
            let address: String
            let queues: [String]
        }
        let queues: [Queue]
        let servers: [Server]
        let unreachable: [String]
    }
}
