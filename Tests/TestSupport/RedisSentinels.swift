import Foundation
import Synchronization

/// A real master with replicas, and sentinels that watch them, for one test.
package final class RedisSentinels: Sendable {
    /// The server that began as the master, then the replicas.
    package let servers: [RedisServer]
    /// The name under which the sentinels watch the master.
    package static let master = "errand-master"
    /// The password of the sentinels, which differs from that of the servers.
    package static let password = "sentinels-secret"
    /// The URL with all sentinels.
    package var url: String {
        "redis+sentinel://\(servers[0].credentials)" + ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
            + "/\(Self.master)?sentinel_password=\(Self.password)"
    }
    /// The ports of the sentinels.
    package let ports: [Int]
    private let directory: String
    private let sentinels = Mutex<[Process]>([])

    /// Starts the servers and the sentinels, and waits until each sentinel knows all of them.
    ///
    /// - Parameter downAfter: After how many milliseconds a silent server counts as lost.
    package init(replicas: Int = 1, sentinels count: Int = 3, downAfter: Int = 1000) throws {
        let master = try RedisServer(tcp: true, ["--repl-diskless-sync-delay", "0"])
        let following = ["--repl-diskless-sync-delay", "0", "--replicaof", "127.0.0.1", String(master.port)]
        servers = try [master] + (0..<replicas).map { _ in try RedisServer(tcp: true, following) }
        ports = try (0..<count).map { _ in try FreePorts.next() }
        directory = NSTemporaryDirectory() + "es-\(String(UInt32.random(in: 0 ... .max), radix: 36))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        for port in ports { try startSentinel(at: port, downAfter, quorum: count / 2 + 1) }
        try awaitView("the sentinels know each other and the replicas") {
            $0.contains("slaves=\(replicas),sentinels=\(count)")
        }
    }

    deinit {
        for process in sentinels.withLock({ $0 }) where process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(atPath: directory)
    }

    private func startSentinel(at port: Int, _ downAfter: Int, quorum: Int) throws {
        let name = Self.master
        let settings = """
            port \(port)
            bind 127.0.0.1
            dir \(directory)
            unixsocket \(directory)/\(port)
            requirepass \(Self.password)
            sentinel sentinel-pass \(Self.password)
            sentinel monitor \(name) 127.0.0.1 \(servers[0].port) \(quorum)
            sentinel down-after-milliseconds \(name) \(downAfter)
            sentinel failover-timeout \(name) 3000
            """
        let file = "\(directory)/\(port).conf"
        try settings.write(toFile: file, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["redis-server", file, "--sentinel"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        TestReaper.shared.watch(process.processIdentifier, directory)
        sentinels.withLock { $0.append(process) }
    }

    /// Waits until all sentinels that run describe their masters so.
    private func awaitView(_ what: String, _ isSo: (String) -> Bool) throws {
        var views: [String] = []
        try poll("\(what): \(views)") {
            views = ports.map { port in
                (try? RedisServer.ask("\(directory)/\(port)", [["AUTH", Self.password], ["INFO", "sentinel"]]))?.last
                    ?? ""
            }
            return views.allSatisfy(isSo)
        }
    }

    /// Waits until all sentinels name this server as the master.
    package func awaitMaster(_ server: RedisServer) throws {
        try awaitView("the sentinels name \(server.port)") { $0.contains("address=127.0.0.1:\(server.port),") }
    }

    /// Waits until the sentinels name another master than the lost one, and returns it.
    package func awaitFailover(from lost: RedisServer) throws -> RedisServer {
        let replicas = servers.filter { $0.port != lost.port }
        var promoted = lost
        try awaitView("a replica is promoted") { view in
            guard let named = replicas.first(where: { view.contains("address=127.0.0.1:\($0.port),") }) else {
                return false
            }
            promoted = named
            return true
        }
        return promoted
    }

    /// Waits until all other servers follow the master.
    package func awaitReplicas(of master: RedisServer) throws {
        try poll("all servers follow \(master.port)") {
            RedisServer.followers(in: try master.run("INFO", "replication")) == servers.count - 1
        }
    }

    /// Sends a command to the first sentinel.
    @discardableResult
    package func ask(_ words: String..., of port: Int? = nil) throws -> String {
        let answers = try RedisServer.ask("\(directory)/\(port ?? ports[0])", [["AUTH", Self.password], words])
        return answers.last ?? ""
    }

    /// Stops a sentinel or lets it go on.
    package func signal(_ number: Int32, _ index: Int) {
        let pid = sentinels.withLock { $0[index].processIdentifier }
        send(number, toChild: pid)
    }
}
