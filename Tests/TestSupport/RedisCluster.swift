import Foundation

/// A real cluster of redis-servers for one test.
package final class RedisCluster: Sendable {
    /// The servers that began as masters, with equal shares of the slots.
    package let masters: [RedisServer]
    /// The servers that began as replicas, in the order of their masters.
    package let replicas: [RedisServer]
    /// All servers.
    package var servers: [RedisServer] { masters + replicas }
    /// The URL with all servers, with the user whose permissions `deploy/redis/errand.acl` lists.
    package var url: String {
        "redis+cluster://\(masters[0].credentials)" + servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
    }

    /// Starts a cluster, and waits until all of its servers agree that it is complete.
    ///
    /// - Parameters:
    ///   - masters: The number of masters.
    ///   - replicas: The number of replicas of each master.
    ///   - nodeTimeout: After how many milliseconds a silent server counts as lost.
    package init(masters: Int = 3, replicas: Int = 0, nodeTimeout: Int = 2000, _ more: [String] = []) throws {
        let all = try (0..<masters * (1 + replicas)).map { _ in
            // The usual port of the bus, 10,000 higher, may not exist.
            let bus = try FreePorts.next()
            let settings = [
                "--cluster-enabled", "yes", "--cluster-port", String(bus), "--cluster-node-timeout",
                String(nodeTimeout), "--repl-diskless-sync-delay", "0", "--cluster-replica-validity-factor", "0",
            ]
            return (server: try RedisServer(tcp: true, settings + more), bus: bus)
        }
        self.masters = all.prefix(masters).map(\.server)
        self.replicas = all.dropFirst(masters).map(\.server)
        for (index, master) in self.masters.enumerated() {
            let (first, end) = (16384 * index / masters, 16384 * (index + 1) / masters)
            try master.run("CLUSTER", "ADDSLOTSRANGE", "\(first)", "\(end - 1)")
            try master.run("CLUSTER", "SET-CONFIG-EPOCH", "\(index + 1)")
        }
        for (server, bus) in all.dropFirst() {
            try self.masters[0].run("CLUSTER", "MEET", "127.0.0.1", "\(server.port)", "\(bus)")
        }
        try awaitMeeting(of: all.count)
        for (index, replica) in self.replicas.enumerated() {
            try replica.run("CLUSTER", "REPLICATE", try self.masters[index % masters].run("CLUSTER", "MYID"))
        }
        try awaitHealth()
    }

    private func awaitMeeting(of count: Int) throws {
        try poll("all servers know each other") {
            try self.servers.allSatisfy { try $0.run("CLUSTER", "INFO").contains("cluster_known_nodes:\(count)\r") }
        }
    }

    /// Waits until all servers that run find the cluster complete, and all replicas follow their masters.
    package func awaitHealth() throws {
        try poll("the cluster is complete") {
            let running = servers.filter(\.isRunning)
            guard try running.allSatisfy({ try $0.run("CLUSTER", "INFO").contains("cluster_state:ok") }) else {
                return false
            }
            let roles = try running.map { try $0.run("INFO", "replication") }
            let masters = roles.filter { $0.contains("role:master") }
            return masters.reduce(0) { $0 + RedisServer.followers(in: $1) } == running.count - masters.count
        }
    }

    /// Returns the slot of a queue.
    package func slot(of queue: String, asking asked: [RedisServer]? = nil) throws -> String {
        guard let server = (asked ?? servers).first(where: \.isRunning) else { throw TestFailure("no server runs") }
        return try server.run("CLUSTER", "KEYSLOT", "errand:{\(queue)}")
    }

    /// Returns the server that is the master of a queue's slot at present.
    ///
    /// - Parameter asked: The servers to ask, if not all that run.
    package func server(of queue: String, asking asked: [RedisServer]? = nil) throws -> RedisServer {
        let slot = try slot(of: queue, asking: asked)
        for server in asked ?? servers where server.isRunning {
            let answer = try server.run("GET", "{\(queue)}")
            if answer.hasPrefix("MOVED \(slot) "), let port = answer.split(separator: ":").last,
                let owner = servers.first(where: { "\($0.port)" == port }), owner.isRunning
            {
                return owner
            }
            if !answer.contains("MOVED") { return server }
        }
        throw TestFailure("no server has the slot of \(queue)")
    }

    /// Returns the server that began as the replica of a master.
    package func replica(of master: RedisServer) throws -> RedisServer {
        guard let index = masters.firstIndex(where: { $0.port == master.port }), replicas.indices.contains(index) else {
            throw TestFailure("that master has no replica")
        }
        return replicas[index]
    }

    /// Moves the slot of a queue with all of its keys to another master, as `redis-cli --cluster reshard` does.
    ///
    /// - Parameter halfway: Called when one key was moved, and the others were not.
    package func move(_ queue: String, to target: RedisServer, halfway: () throws -> Void = {}) throws {
        let source = try server(of: queue)
        let slot = try slot(of: queue)
        try beginMoving(queue, to: target)
        try halfway()
        while try migrate(slot, atMost: 100, from: source, to: target) {}
        let to = try target.run("CLUSTER", "MYID")
        for server in [target, source] + masters where server.isRunning {
            try server.run("CLUSTER", "SETSLOT", slot, "NODE", to)
        }
    }

    /// Moves one key of a queue to another master, and leaves the others where they are.
    package func beginMoving(_ queue: String, to target: RedisServer) throws {
        let source = try server(of: queue)
        let slot = try slot(of: queue)
        let (from, to) = (try source.run("CLUSTER", "MYID"), try target.run("CLUSTER", "MYID"))
        try expect("OK", target.run("CLUSTER", "SETSLOT", slot, "IMPORTING", from))
        try expect("OK", source.run("CLUSTER", "SETSLOT", slot, "MIGRATING", to))
        _ = try migrate(slot, atMost: 1, from: source, to: target)
    }

    /// Returns whether there were keys to migrate.
    private func migrate(
        _ slot: String,
        atMost count: Int,
        from source: RedisServer,
        to target: RedisServer
    ) throws -> Bool {
        let keys = try source.run("CLUSTER", "GETKEYSINSLOT", slot, "\(count)").split(separator: "\n")
        if keys.isEmpty { return false }
        let words = ["MIGRATE", "127.0.0.1", "\(target.port)", "", "0", "20000", "KEYS"] + keys.map(String.init)
        try expect("OK", source.run(words))
        return true
    }

    private func expect(_ wanted: String, _ answer: String) throws {
        guard answer == wanted else { throw TestFailure("the server answered \(answer)") }
    }
}
