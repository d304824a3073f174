import Errand
import ErrandRedis
import Logging
import Synchronization
import TestSupport

extension ScenarioContext {
    /// Starts a server; the console uses the first one, too.
    @discardableResult
    func server(
        tcp: Bool = false,
        durable: Bool = false,
        rules: String = "",
        _ more: [String] = []
    ) throws -> RedisServer {
        try adopt(RedisServer(tcp: tcp, durable: durable, rules: rules, more))
    }

    /// Adopts a server, which ends with the scenario.
    @discardableResult
    func adopt(_ server: RedisServer) throws -> RedisServer {
        let isFirst = state.withLock { state in
            state.servers.append(server)
            return state.servers.count == 1
        }
        if isFirst { try watch(server) }
        return server
    }

    /// Uses this server from now on when the accounts are checked.
    func watch(_ server: RedisServer) throws {
        let console = try connect(server.url, patience: .seconds(20), name: "fault-console")
        state.withLock {
            $0.console = console
            $0.watched = server
        }
    }

    /// Uses this cluster from now on when the accounts are checked.
    func watch(_ cluster: RedisCluster) throws {
        let console = try connect(cluster.url, patience: .seconds(20), name: "fault-console")
        state.withLock {
            $0.console = console
            $0.cluster = cluster
        }
    }

    /// The server that has the queue's keys now.
    func watched(_ queue: String = ScenarioContext.queue) throws -> RedisServer? {
        let (server, cluster) = state.withLock { ($0.watched, $0.cluster) }
        return try cluster?.server(of: queue) ?? server
    }

    /// A chaos proxy in front of a server.
    func proxy(_ server: RedisServer) throws -> ChaosProxy {
        let proxy = try ChaosProxy(to: server)
        atEnd { proxy.close() }
        return proxy
    }

    /// A broker of this process, closed with the scenario.
    func connect(
        _ url: String,
        patience: Duration = .seconds(10),
        commandTimeout: Duration = .seconds(10),
        replicas: Int = 0,
        name: String = "fault-producer"
    ) throws -> RedisBroker {
        let options = ConnectionOptions(
            connectTimeout: .seconds(1),
            commandTimeout: commandTimeout,
            patience: patience,
            clientName: name,
            replicas: replicas
        )
        let broker = RedisBroker(try RedisAddress(url: url), options: options, logger: Logger(label: "faults"))
        state.withLock { $0.brokers.append(broker) }
        return broker
    }

    /// A connection with an operator's permissions, for writes that bypass Errand.
    var operatorsBroker: RedisBroker {
        get throws {
            guard let server = state.withLock(\.watched) else { throw TestFailure("there is no server yet") }
            if let broker = state.withLock(\.operators) { return broker }
            let broker = try connect(server.shownURL, name: "fault-operator")
            state.withLock { $0.operators = broker }
            return broker
        }
    }

    /// The console's broker, without a proxy.
    var console: RedisBroker {
        get throws {
            guard let console = state.withLock(\.console) else { throw TestFailure("there is no server yet") }
            return console
        }
    }

    /// The queue's counts, without a proxy.
    func status(of queue: String = ScenarioContext.queue) async throws -> QueueStatus {
        try await console.status(of: queue).queue
    }

    /// The queue's totals, without a proxy.
    func totals(of queue: String = ScenarioContext.queue) async throws -> QueueStatus.Totals {
        try await status(of: queue).totals
    }
}
