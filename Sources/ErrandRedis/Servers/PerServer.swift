import Errand
import Synchronization

/// Runs something for each server that has some of the queues, and starts it anew where queues have moved.
final class PerServer<Member: Sendable>: Sendable {
    private struct Running {
        let queues: [String]
        let isSharded: Bool
        let member: Member
    }

    private struct State {
        var queues: [String]
        var running: [RedisAddress: Running] = [:]
        var watch: (any Subscription)?
        var isCancelled = false
    }

    private let servers: Servers
    private let start: @Sendable (_ server: RedisAddress, _ isSharded: Bool, _ queues: [String]) -> Member
    private let stop: @Sendable (Member) -> Void
    private let change: (@Sendable (Member, _ queues: [String]) -> Void)?
    private let state: Mutex<State>

    /// Starts the members.
    ///
    /// - Parameters:
    ///   - start: Starts a member for a server with some of the queues. It does not wait for anything.
    ///   - stop: Ends a member.
    ///   - change: Gives a member other queues. Without it, one is stopped, and another one started.
    init(
        _ servers: Servers,
        _ queues: [String],
        start: @escaping @Sendable (_ server: RedisAddress, _ isSharded: Bool, _ queues: [String]) -> Member,
        stop: @escaping @Sendable (Member) -> Void,
        change: (@Sendable (Member, _ queues: [String]) -> Void)? = nil
    ) {
        self.servers = servers
        self.start = start
        self.stop = stop
        self.change = change
        state = Mutex(State(queues: queues))
        let watch = servers.watch { [weak self] change in
            switch change {
            case .moved: self?.update()
            case .anotherServer: self?.restart()
            case .closed: self?.cancel()
            }
        }
        state.withLock { $0.watch = watch }
        servers.learnLayoutInBackground()
        update()
    }

    /// Replaces the queues.
    func set(_ queues: [String]) {
        state.withLock { $0.queues = queues }
        update()
    }

    /// Calls `body` with each member.
    func forEach(_ body: (Member) -> Void) {
        for member in state.withLock({ $0.running.values.map(\.member) }) { body(member) }
    }

    /// Starts all members anew, because another server has their addresses now.
    private func restart() {
        state.withLock { state in
            for running in state.running.values { stop(running.member) }
            state.running = [:]
        }
        update()
    }

    /// Ends all members.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.watch?.cancel()
            for running in state.running.values { stop(running.member) }
            state.running = [:]
        }
    }

    private func update() {
        state.withLock { state in
            guard !state.isCancelled else { return }
            let (isSharded, groups) = servers.groups(of: state.queues)
            for (server, running) in state.running
            where !keep(running, groups[server] ?? [], isSharded, among: state.queues) {
                stop(running.member)
                state.running[server] = nil
            }
            for (server, queues) in groups {
                let member = state.running[server]?.member ?? start(server, isSharded, queues)
                state.running[server] = Running(queues: queues, isSharded: isSharded, member: member)
            }
        }
    }

    /// Gives a member other queues, if none of its queues has moved to another server.
    private func keep(_ running: Running, _ queues: [String], _ isSharded: Bool, among wanted: [String]) -> Bool {
        guard running.isSharded == isSharded, !queues.isEmpty else { return false }
        if running.queues == queues { return true }
        guard let change, Set(queues).isSuperset(of: Set(running.queues).intersection(wanted)) else { return false }
        change(running.member, queues)
        return true
    }
}
