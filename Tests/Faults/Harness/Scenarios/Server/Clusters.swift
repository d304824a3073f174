import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Clusters and sentinels: lost and hanging masters, and slots that move.
extension Scenario {
    static let clusters = [
        Scenario(
            "F88",
            "a cluster's master dies under load, and its replica takes over",
            quick: true,
            limit: .seconds(900)
        ) {
            context in
            let cluster = try RedisCluster(replicas: 2, nodeTimeout: 1000)
            try context.watch(cluster)
            try await lose(context, cluster.url, times: context.size(quick: 1, full: 20)) {
                let master = try cluster.server(of: ScenarioContext.queue)
                master.kill(SIGKILL)
                return Loss {
                    try cluster.server(of: ScenarioContext.queue).port != master.port
                } repair: {
                    try master.start(mayLoad: true)
                    try cluster.awaitHealth()
                }
            }
        },
        Scenario("F89", "a cluster's master hangs, is replaced, and returns as a replica", limit: .seconds(900)) {
            context in
            let cluster = try RedisCluster(replicas: 2, nodeTimeout: 1000)
            try context.watch(cluster)
            try await lose(context, cluster.url, times: context.size(quick: 1, full: 20)) {
                let master = try cluster.server(of: ScenarioContext.queue)
                master.kill(SIGSTOP)
                let others = cluster.servers.filter { $0.port != master.port }
                return Loss {
                    try cluster.server(of: ScenarioContext.queue, asking: others).port != master.port
                } repair: {
                    master.kill(SIGCONT)
                    try poll("the old master is a replica") { try master.run("ROLE").hasPrefix("slave") }
                    try cluster.awaitHealth()
                }
            }
        },
        Scenario("F90", "the slot of a queue moves back and forth under load", quick: true) { context in
            context.rules { $0.forbidsDuplicates = true }
            let cluster = try RedisCluster()
            try context.watch(cluster)
            let workers = try await context.workers(2) { $0.url = cluster.url }
            let producer = try context.connect(cluster.url, patience: .seconds(20))
            let load = context.load(rate: context.size(quick: 200, full: 2000), via: producer)
            try await context.carries(load, within: .seconds(10))
            for _ in 0..<context.size(quick: 3, full: 20) {
                try await move(context, cluster, load)
            }
            try await load.stop()
            context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
            try await context.expectEveryoneIsBusy(workers)
        },
        Scenario("F93", "the slot moves while a client in another language follows ASK by itself", quick: true) {
            context in
            context.rules { $0.forbidsDuplicates = true }
            let cluster = try RedisCluster()
            try context.watch(cluster)
            try await context.workers(2) { $0.url = cluster.url }
            let producer = try context.connect(cluster.url, patience: .seconds(20))
            let load = context.load(rate: context.size(quick: 100, full: 1000), via: producer)
            try await context.carries(load, within: .seconds(10))
            let foreign = try ForeignProducer(context, cluster, rate: context.size(quick: 100, full: 1000))
            try await eventually("the other client pushes") { foreign.accepted.count > 10 }
            for _ in 0..<context.size(quick: 3, full: 20) {
                // Long enough for pushes to meet the half-moved slot.
                try await move(context, cluster, load) { usleep(200_000) }
            }
            try await load.stop()
            try await foreign.stop()
        },
        Scenario("F91", "a slot is moved for longer than a lease", quick: true) { context in
            context.rules { $0.forbidsDuplicates = true }
            let cluster = try RedisCluster()
            try context.watch(cluster)
            let workers = try await context.workers(2) { $0.url = cluster.url }
            let producer = try context.connect(cluster.url, patience: .seconds(20))
            let load = context.load(rate: 50, via: producer)
            try await context.carries(load, within: .seconds(10))
            try await move(context, cluster, load, within: .seconds(8)) { usleep(5_000_000) }
            try await load.stop()
            context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
        },
        Scenario("F94", "two of three masters are away, so that the cluster is down", quick: true) { context in
            context.rules { $0.forbidsDuplicates = true }
            let cluster = try RedisCluster(nodeTimeout: 1000, ["--appendonly", "yes", "--appendfsync", "always"])
            try context.watch(cluster)
            let workers = try await context.workers(2) { $0.url = cluster.url }
            let producer = try context.connect(cluster.url, patience: .seconds(90))
            let load = context.load(rate: 50, via: producer)
            try await context.carries(load, within: .seconds(10))
            let own = try cluster.server(of: ScenarioContext.queue)
            let gone = cluster.masters.filter { $0.port != own.port }
            for server in gone { server.kill(SIGKILL) }
            context.injected()
            try await eventually("the cluster is down") { try own.run("GET", "{any}").hasPrefix("CLUSTERDOWN") }
            try await Task.sleep(for: .seconds(context.size(quick: 5, full: 60)))
            for server in gone { try server.start(mayLoad: true) }
            try cluster.awaitHealth()
            try await context.carries(load, within: .seconds(10))
            try await load.stop()
            context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
            try await context.expectEveryoneIsBusy(workers)
        },
        Scenario("F92", "the master that sentinels watch dies under load", quick: true, limit: .seconds(1200)) {
            try await loseMasters($0, replicas: 1)
        },
        Scenario(
            "F95",
            "pushes that wait for no replica, and a master that sentinels watch dies",
            limit: .seconds(1200)
        ) {
            // What the replicas had not received is lost; the rest is consistent.
            $0.rules { $0.serverLosesData = true }
            try await loseMasters($0, replicas: 0)
        },
        Scenario(
            "F96",
            "sentinels replace a master that goes on, under pushes that wait for all replicas",
            limit: .seconds(1200)
        ) {
            try await loseMasters($0, replicas: 2, isPlanned: true)
        },
    ]

    /// Loses masters that sentinels watch.
    ///
    /// - Parameter isPlanned: Whether a sentinel is told to replace the master, which goes on for a moment.
    private static func loseMasters(
        _ context: ScenarioContext,
        replicas: Int,
        isPlanned: Bool = false
    ) async throws {
        // They send a PING each second, so one that is late must not look like a loss.
        let sentinels = try RedisSentinels(replicas: 2, downAfter: 2000)
        var master = sentinels.servers[0]
        try context.watch(master)
        // Sentinels make the old master a replica after about ten seconds. All are wanted, so pushes wait until then.
        let limit = Duration.seconds(isPlanned ? 25 : 7)
        let times = context.size(quick: 1, full: 20)
        try await lose(context, sentinels.url, times: times, within: limit, replicas: replicas) {
            let lost = master
            if isPlanned {
                try sentinels.ask("SENTINEL", "FAILOVER", RedisSentinels.master)
            } else {
                lost.kill(SIGKILL)
            }
            return Loss {
                master = try sentinels.awaitFailover(from: lost)
                try context.watch(master)
                return true
            } repair: {
                if !isPlanned { try lost.start(mayLoad: true) }
                try sentinels.awaitReplicas(of: master)
            }
        }
    }

    /// Moves the queue's slot to another master under load.
    private static func move(
        _ context: ScenarioContext,
        _ cluster: RedisCluster,
        _ load: Load,
        within limit: Duration = .seconds(5),
        halfway: () throws -> Void = {}
    ) async throws {
        let source = try cluster.server(of: ScenarioContext.queue)
        guard let target = cluster.masters.first(where: { $0.port != source.port }) else { return }
        let start = MemoryBroker.systemTime()
        try cluster.move(ScenarioContext.queue, to: target, halfway: halfway)
        context.injected()
        try await context.carries(load, within: limit)
        context.recordPause(since: start)
    }

    /// What is lost in a scenario.
    private struct Loss {
        /// Returns whether another server has taken over.
        let isReplaced: () throws -> Bool
        /// Brings the lost server back as a replica.
        let repair: () throws -> Void

        init(isReplaced: @escaping () throws -> Bool, repair: @escaping () throws -> Void) {
            self.isReplaced = isReplaced
            self.repair = repair
        }
    }

    /// Loses masters under a load of pushes; none of those may be lost that waited for a replica.
    ///
    /// - Parameter loss: Loses the present master.
    private static func lose(
        _ context: ScenarioContext,
        _ url: String,
        times: Int,
        within limit: Duration = .seconds(7),
        replicas: Int = 1,
        _ loss: () throws -> Loss
    ) async throws {
        // Reports of workers do not wait for replicas.
        context.rules { $0.mayRunAfterItsEnd = true }
        let workers = try await context.workers(2) { $0.url = url }
        let producer = try context.connect(url, patience: .seconds(20), commandTimeout: .seconds(2), replicas: replicas)
        let load = context.load(rate: 100, "nap", via: producer) { $0.milliseconds = 10 }
        try await context.carries(load, within: .seconds(10))
        for number in 0..<times {
            // Redis holds a replica back that took part in an election less than four node timeouts ago, so that another
            // one with less data could take over.
            if number > 0 { try await Task.sleep(for: .seconds(5)) }
            let start = MemoryBroker.systemTime()
            let lost = ContinuousClock.now
            let loss = try loss()
            context.injected()
            try await eventually("another server has taken over", within: .seconds(30)) {
                (try? loss.isReplaced()) == true
            }
            // After one or two seconds the master counts as lost.
            try await context.carries(load, within: limit, since: lost)
            context.recordPause(since: start)
            try loss.repair()
            try await context.carries(load, within: .seconds(10))
        }
        try await load.stop()
        context.expectAlive(workers)
        try await context.expectEveryoneIsBusy(workers)
        try await context.drain()
        try await context.expectNothingLostSinceTheLastInjection()
        try await context.leave()
    }
}
