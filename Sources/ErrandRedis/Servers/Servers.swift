import Errand
import Logging
import Synchronization

/// The servers of a broker: which of them has the keys of a queue, and a connection to each that is in use.
///
/// With one server, or with the master that sentinels name, all keys are there. The servers of a cluster share them by
/// slot, and the slot map is read again whenever a server redirects a call or its connection is lost.
final class Servers: Sendable {
    /// Where to send a call.
    struct Route: Sendable {
        let connection: Connection
        let address: RedisAddress
        /// Whether the server belongs to a cluster, in which messages are published to one shard only.
        let isSharded: Bool
    }

    private enum Layout {
        /// It is not known yet whether the server belongs to a cluster.
        case unknown
        case oneServer
        case cluster(SlotMap)
    }

    private struct State {
        var layout: Layout
        /// The address with the sentinel first that has announced the latest failover; `nil` before that.
        var home: RedisAddress?
        var connections: [ConnectionKey: Connection] = [:]
        /// Servers of a cluster whose connection is lost, and since when. A connection is made again with the next call,
        /// which may come much later.
        var lost: [RedisAddress: ContinuousClock.Instant] = [:]
        /// What was logged of lost connections: for each server of a cluster, or for the only place.
        var outages: [RedisAddress: Outage] = [:]
        /// Servers of a cluster that have not replied for a second or longer.
        var slow: Set<RedisAddress> = []
        var watchers: [Int: @Sendable (Change) -> Void] = [:]
        var watchersMade = 0
        var waiting: [Waiting] = []
        var isClosed = false
    }

    private struct ConnectionKey: Hashable {
        let server: RedisAddress
        /// Pushes that wait for replicas have connections of their own, because WAIT blocks them: one of a few for each
        /// queue. `nil` for all other calls.
        let waiting: Int?
    }

    /// A caller that waits for the first slot map.
    private struct Waiting {
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<BrokerError?, Never>
    }

    let address: RedisAddress
    private let options: ConnectionOptions
    private let logger: Logger
    private let state: Mutex<State>
    private let failovers = Mutex<FailoverWatch?>(nil)
    private let reader: SlotMapReader

    init(_ address: RedisAddress, _ options: ConnectionOptions, logger: Logger) {
        self.address = address
        self.options = options
        self.logger = logger
        state = Mutex(State(layout: address.mayBelongToCluster ? .unknown : .oneServer))
        reader = SlotMapReader(ClusterSurvey(address, options))
    }

    /// Whether ``close()`` was called.
    var isClosed: Bool { state.withLock(\.isClosed) }

    /// Closes all connections.
    func close() {
        let (connections, waiting, watchers) = state.withLock { state in
            state.isClosed = true
            defer { (state.connections, state.waiting, state.watchers) = ([:], [], [:]) }
            return (state.connections, state.waiting, Array(state.watchers.values))
        }
        for tell in watchers { tell(.closed) }
        for connection in connections.values { connection.close() }
        for caller in waiting { caller.continuation.resume(returning: Self.closed) }
        failovers.withLock { $0?.cancel() }
        reader.close()
    }

    static let closed = BrokerError(.closed, "this broker was closed with close(); make a new one")

    // MARK: Routes

    /// Returns the route to a place, once it is known whether there is a cluster; `nil` if no server of it has the slot at
    /// present.
    ///
    /// A server that cannot tell now is called as if it were alone: its reply to the call says what there is to wait for.
    ///
    /// - Throws: `BrokerError` with code `notReachable` if no server can be asked before the deadline.
    func route(
        to place: CommandPlace,
        waiting: Int? = nil,
        until deadline: ContinuousClock.Instant
    ) async throws(BrokerError) -> Route? {
        listenToSentinels()
        switch state.withLock({ present(place, waiting, &$0) }) {
        case .route(let route): return route
        case .unserved: return nil
        case .closed: throw Self.closed
        case .unknown: break
        }
        try await learnLayout(until: deadline)
        switch state.withLock({ present(place, waiting, isAlone: true, &$0) }) {
        case .route(let route): return route
        case .unserved, .unknown: return nil
        case .closed: throw Self.closed
        }
    }

    private enum Present { case route(Route), unserved, unknown, closed }

    private func present(
        _ place: CommandPlace,
        _ waiting: Int?,
        isAlone: Bool = false,
        _ state: inout State
    ) -> Present {
        if state.isClosed { return .closed }
        switch (state.layout, place) {
        case (.unknown, _) where !isAlone || address.isCluster: return .unknown
        case (.unknown, _): return .route(route(to: address, isSharded: false, waiting, &state))
        case (.oneServer, _): return .route(route(to: state.home ?? address, isSharded: false, waiting, &state))
        case (.cluster, .server(let server)): return .route(route(to: server, isSharded: true, waiting, &state))
        case (.cluster(let map), _):
            let silent = state.slow.union(state.lost.keys)
            guard let master = map.master(of: place, avoiding: { silent.contains(address.server($0)) }) else {
                return .unserved
            }
            return .route(route(to: address.server(master), isSharded: true, waiting, &state))
        }
    }

    private func route(to server: RedisAddress, isSharded: Bool, _ waiting: Int?, _ state: inout State) -> Route {
        let key = ConnectionKey(server: server, waiting: waiting)
        if let connection = state.connections[key] {
            return Route(connection: connection, address: server, isSharded: isSharded)
        }
        // After a failover, sentinels name another server at the same place.
        let place = isSharded ? server : address
        let outage = state.outages[place] ?? Outage()
        state.outages[place] = outage
        let connection = Connection(server, options, logger: logger, isWaiting: waiting != nil, outage: outage) {
            [weak self] isConnected in
            self?.note(server, isConnected: isConnected)
        }
        state.connections[key] = connection
        return Route(connection: connection, address: server, isSharded: isSharded)
    }

    // MARK: Sentinels

    /// Connects to another master as soon as a sentinel announces it.
    private func listenToSentinels() {
        guard case .sentinels(let sentinels) = address.place else { return }
        failovers.withLock { failovers in
            guard failovers == nil, !isClosed else { return }
            failovers = FailoverWatch(sentinels, options, logger: logger) { [weak self] in
                self?.connectAnew(asking: $0)
            }
        }
    }

    private func connectAnew(asking sentinel: HostAndPort) {
        let (old, watchers) = state.withLock { state in
            defer { (state.connections, state.home) = ([:], address.asking(first: sentinel)) }
            return (Array(state.connections.values), Array(state.watchers.values))
        }
        for connection in old { connection.retire() }
        for tell in watchers { tell(.anotherServer) }
    }

    /// The servers that have queues: one, or all masters of the cluster.
    func all(until deadline: ContinuousClock.Instant) async throws(BrokerError) -> [RedisAddress] {
        guard try await route(to: .anywhere, until: deadline) != nil else {
            throw BrokerError(.notReachable, "\(address): no server of the cluster has slots; see CLUSTER INFO")
        }
        return state.withLock { state in
            if case .cluster(let map) = state.layout { map.masters.map { address.server($0) } } else { [address] }
        }
    }

    /// The cluster's shards as last read; `nil` if there is no cluster.
    var shards: [SlotMap.Shard]? {
        state.withLock { if case .cluster(let map) = $0.layout { map.shards } else { nil } }
    }

    // MARK: What servers and connections report

    /// Notes that a call was redirected, and reads the slot map again.
    ///
    /// - Parameter server: The server that replied.
    func redirected(_ error: ServerError, by server: RedisAddress) {
        guard let redirection = Redirection(error, from: server.hostAndPort?.host) else { return refresh() }
        logger.debug(
            "a slot has moved",
            metadata: ["broker.address": "\(server)", "slot": "\(redirection.slot)", "to": "\(redirection.server)"]
        )
        change { state in
            // A server that was taken for the only one keeps what it does not redirect.
            var map = SlotMap(all: address.hostAndPort ?? redirection.server)
            if case .cluster(let known) = state.layout { map = known }
            map.learn(redirection.slot, at: redirection.server)
            state.layout = .cluster(map)
        }
        reader.read(for: self, from: redirection.server)
    }

    /// Reads the slot map again, if there is a cluster.
    func refresh() {
        if state.withLock({ if case .cluster = $0.layout { true } else { false } }) { reader.read(for: self) }
    }

    private func note(_ server: RedisAddress, isConnected: Bool) {
        state.withLock { state in
            if isConnected { state.lost[server] = nil } else if state.lost[server] == nil { state.lost[server] = .now }
        }
        if !isConnected { refresh() }
    }

    // MARK: Watching

    /// Returns which server has which of the queues, and whether they form a cluster. Queues whose slot no server has
    /// are missing.
    func groups(of queues: [String]) -> (isSharded: Bool, groups: [RedisAddress: [String]]) {
        state.withLock { state in
            switch state.layout {
            case .cluster(let map):
                var groups: [RedisAddress: [String]] = [:]
                for queue in queues {
                    guard let master = map.master(of: .queue(queue)) else { continue }
                    groups[address.server(master), default: []].append(queue)
                }
                return (true, groups)
            case .unknown where address.isCluster: return (true, [:])
            case .unknown, .oneServer: return (false, queues.isEmpty ? [:] : [state.home ?? address: queues])
            }
        }
    }

    /// Calls `onChange` with each change until it is cancelled; with ``Change/closed`` at once if the broker is closed.
    func watch(_ onChange: @escaping @Sendable (Change) -> Void) -> any Subscription {
        let (number, isClosed) = state.withLock { state in
            state.watchersMade += 1
            if !state.isClosed { state.watchers[state.watchersMade] = onChange }
            return (state.watchersMade, state.isClosed)
        }
        if isClosed { onChange(.closed) }
        return Watch { [self] in state.withLock { _ = $0.watchers.removeValue(forKey: number) } }
    }

    private struct Watch: Subscription {
        let end: @Sendable () -> Void
        func cancel() { end() }
    }

    /// Changes the state, closes connections to servers that have no slots, and tells the watchers.
    private func change(_ body: (inout State) -> Void) {
        let (retired, ended, watchers) = state.withLock { state in
            body(&state)
            var (retired, ended): ([Connection], [RedisAddress: Outage]) = ([], [:])
            if case .cluster(let map) = state.layout {
                let masters = Set(map.masters.map { address.server($0) })
                for (key, connection) in state.connections where !masters.contains(key.server) {
                    state.connections[key] = nil
                    retired.append(connection)
                }
                state.lost = state.lost.filter { masters.contains($0.key) }
                ended = state.outages.filter { !masters.contains($0.key) }
                state.outages = state.outages.filter { masters.contains($0.key) }
            }
            return (retired, ended, Array(state.watchers.values))
        }
        for (server, outage) in ended { outage.endBySuccession(of: server, logger) }
        for connection in retired { connection.retire() }
        for tell in watchers { tell(.moved) }
    }

    // MARK: The layout

    /// Finds out whether there is a cluster.
    func learnLayout(until deadline: ContinuousClock.Instant) async throws(BrokerError) {
        address.isCluster ? try await awaitMap(until: deadline) : try await askServer(until: deadline)
    }

    /// Finds it out for those who cannot wait, and tells the watchers.
    func learnLayoutInBackground() {
        guard state.withLock({ if case .unknown = $0.layout { true } else { false } }) else { return }
        Task { [self] in
            while !isClosed, case .unknown = state.withLock(\.layout) {
                do throws(BrokerError) { try await learnLayout(until: .now + options.patience) } catch {
                    logger.debug("no layout", metadata: ["broker.address": "\(address)", "error": "\(error)"])
                }
                // The server may be loading.
                if case .unknown = state.withLock(\.layout) { try? await Task.sleep(for: .seconds(1)) }
            }
        }
    }

    /// Asks the server of a `redis://` address. An older server, or one that stands in front of others, may not know the
    /// question, and a user may not be allowed to ask it; then there is no cluster until a call is redirected.
    private func askServer(until deadline: ContinuousClock.Instant) async throws(BrokerError) {
        let place = state.withLock { present(.anywhere, nil, isAlone: true, &$0) }
        guard case .route(let route) = place, !route.isSharded else { return }
        let reply: RESPValue
        do throws(BrokerError) {
            let replies = try await route.connection.send(.command("CLUSTER", "SLOTS"), until: deadline)
            guard let first = replies.first else { return }
            reply = first
        } catch {
            // The connection broke, or another caller has the reply already: the call itself will tell.
            if error.code == .outcomeUnknown || error.code == .closed { return }
            throw error
        }
        if case .error(let text) = reply, ServerError(text).isPassing { return }
        let map = address.hostAndPort.flatMap { SlotMap(reply, from: $0) }
        change { state in
            guard case .unknown = state.layout else { return }
            state.layout = map.map { .cluster($0) } ?? .oneServer
        }
        // From now on the reader notices servers that hang.
        refresh()
    }

    private func awaitMap(until deadline: ContinuousClock.Instant) async throws(BrokerError) {
        let problem = await withCheckedContinuation { (continuation: CheckedContinuation<BrokerError?, Never>) in
            let waits = state.withLock { state in
                guard !state.isClosed, case .unknown = state.layout else { return false }
                state.waiting.append(Waiting(deadline: deadline, continuation: continuation))
                return true
            }
            if waits { reader.read(for: self) } else { continuation.resume(returning: nil) }
        }
        if let problem { throw problem }
    }

    /// Lets callers that wait for the first map continue: all if there is one or there can be none, and else those without
    /// patience left.
    private func answerWaiting(after problem: BrokerError?) {
        let isFinal = problem.map { $0.code == .notPermitted || $0.code == .refused } ?? true
        let answered = state.withLock { state in
            let now = ContinuousClock.now
            let answered = state.waiting.filter { isFinal || $0.deadline <= now }
            state.waiting.removeAll { isFinal || $0.deadline <= now }
            return answered
        }
        for caller in answered { caller.continuation.resume(returning: problem) }
    }
}

extension Servers: SlotMapHolder {
    /// A lost server that is called during a failover is lost again and again.
    private static let longestDoubt = Duration.seconds(60)

    /// Whether the map is missing, or a server is lost or does not reply.
    var isMapDoubtful: Bool {
        state.withLock { state in
            state.slow = Set(state.connections.filter { $0.value.waitsLong }.map(\.key.server))
            state.lost = state.lost.filter { .now - $0.value < Self.longestDoubt }
            return !state.lost.isEmpty || !state.slow.isEmpty || !state.waiting.isEmpty
        }
    }

    func take(_ map: Result<SlotMap, BrokerError>) {
        switch map {
        case .success(let map):
            change { state in
                var map = map
                if case .cluster(let old) = state.layout { map.fill(from: old) }
                state.layout = .cluster(map)
            }
            answerWaiting(after: nil)
        case .failure(let error):
            logger.debug("no slot map", metadata: ["broker.address": "\(address)", "error": "\(error)"])
            answerWaiting(after: error)
        }
    }

    /// Each turn begins with a different server, because one may be cut off, and servers that hang are the last.
    func serversToAsk(turn: Int) -> [HostAndPort] {
        state.withLock { state in
            var servers: [HostAndPort] = []
            if case .cluster(let map) = state.layout { servers = map.servers }
            servers += address.seeds
            let start = servers.isEmpty ? 0 : turn % servers.count
            let turned = Array(servers[start...] + servers[..<start])
            let silent = state.slow.union(state.lost.keys)
            return turned.filter { !silent.contains(address.server($0)) } + turned
        }
    }
}
