package import Errand
package import ErrandRedis

/// The real scripts on a real server, each history in a queue of its own.
package actor RedisSubject {
    private let universe: Universe
    private let broker: RedisBroker
    private let scripts: Scripts

    /// The digests of the checks' own scripts.
    package struct Scripts: Sendable {
        let dump: String
        let wipe: String

        package init(on broker: RedisBroker) async throws {
            dump = try await broker.load(Array(DumpScript.text.utf8), for: .anywhere)
            wipe = try await broker.load(Array(DumpScript.wipe.utf8), for: .anywhere)
        }
    }

    package init(_ universe: Universe, _ broker: RedisBroker, _ scripts: Scripts) {
        self.universe = universe
        self.broker = broker
        self.scripts = scripts
    }

    private var key: String { KeySpace.key(of: universe.queue) }

    /// Sets the clock before the first step.
    package func begin(_ step: History.Step) async throws {
        _ = try await broker.command(
            .command("HSET", key + ":test", "now", String(step.time), "look", look(of: step.command)),
            for: .anywhere
        )
        // The queue in memory exists from the beginning.
        _ = try await broker.command(.command("HSET", key + ":runtime", "created", "1"), for: .anywhere)
    }

    private func look(of command: Command) -> String {
        if case .recover(let session?) = command { return session }
        return "session-none"
    }

    package func observe(_ step: History.Step, next: History.Step?) async throws -> Observation {
        let answer = try await answer(step.command)
        let next = next ?? step
        let dump = try await broker.command(
            .command(
                "EVALSHA",
                scripts.dump,
                "1",
                key,
                String(Universe.idCount),
                String(Universe.sessionCount),
                String(Universe.nameCount),
                String(next.time),
                look(of: next.command)
            ),
            for: .anywhere
        )
        let parts = dump.elements ?? []
        var news = News(secret: broker.wakeUpSecret)
        let published = parts.count > 1 ? parts[1].elements ?? [] : []
        for start in stride(from: 0, to: published.count - 1, by: 2) {
            news.add(channel: published[start].text ?? "", published[start + 1].bytes ?? [])
        }
        return Observation(
            answer: answer.ordered,
            state: Self.words(parts.first?.bytes ?? []),
            events: news.events,
            woken: news.work,
            stopped: news.stop,
            dispatch: news.dispatch,
            waiting: (parts.last?.elements ?? []).compactMap(\.text)
        )
    }

    func view() async throws -> ConsoleView {
        let (status, sessions) = try await broker.status(of: universe.queue)
        return ConsoleView(status, sessions, try await broker.inspect(universe.ids, on: universe.queue))
    }

    /// What the audit finds. Messages between queues are left out, because no worker delivers them during a history.
    package func findings() async throws -> [Finding] {
        try await broker.audit(universe.queue, repair: false).filter { $0.kind != "message_not_delivered" }
    }

    package func wipe() async throws {
        _ = try await broker.command(.command("EVALSHA", scripts.wipe, "1", key), for: .anywhere)
    }

    private static func words(_ text: [UInt8]) -> [Int64] {
        text.split(separator: UInt8(ascii: " ")).map { Int64(String(decoding: $0, as: UTF8.self)) ?? -98 }
    }

    private struct News {
        let secret: String
        var events: [UInt8] = []
        var work: [String] = []
        var stop: [String] = []
        var dispatch: GivenDispatch?

        mutating func add(channel: String, _ message: [UInt8]) {
            if channel.hasSuffix(":events") {
                if !events.isEmpty { events.append(UInt8(ascii: "\n")) }
                events += message
            } else {
                let session = String(channel.suffix("session-0".count))
                if message == Array("s".utf8) {
                    stop.append(session)
                } else if let given = DispatchedClaim(message, secret: secret) {
                    dispatch = GivenDispatch(session: session, call: given.call, claim: given.claim)
                } else {
                    work.append(session)
                }
            }
        }
    }

    private func answer(_ command: Command) async throws -> Answer {
        do { return try await made(command) } catch let error as BrokerError {
            // Anything else is a fault of the scripts.
            guard [.sessionLost, .full].contains(error.code) || isRefusal(error) else { throw error }
            return .no(error.code)
        }
    }

    private func isRefusal(_ error: BrokerError) -> Bool {
        error.code == .refused && !error.message.contains("user_script")
    }

    private func made(_ command: Command) async throws -> Answer {
        let queue = universe.queue
        // The commands of a history promote, and nothing else does.
        var leavesWork = false
        switch command {
        case .push(let jobs, _): return .receipts(try await receipts(of: jobs))
        case .register(let session): try await broker.register(session, on: queue)
        case .exchange(let call): return .exchanged(try await broker.exchange(call, on: queue))
        case .beat(let session, let begun):
            return .beaten(try await broker.beat(of: session, on: queue, begun: begun))
        case .release(let session): try await broker.release(session, on: queue)
        case .promote: return .promoted(try await broker.promoteOnce(on: queue).promotion)
        case .reconcile(let session, let call, let runs):
            let runs = runs.map { (id: $0.id, token: $0.token) }
            return .reconciled(try await broker.reconcile(session, call: call, runs: runs, on: queue))
        case .recover: return .recovered(try await broker.recover(on: queue))
        case .cancel(let ids): return .endings(try await broker.endOnly(ids, on: queue, .cancel, &leavesWork))
        case .delete(let ids): return .endings(try await broker.endOnly(ids, on: queue, .delete, &leavesWork))
        case .retry(let ids): return .retries(try await broker.retryOnly(ids, on: queue, &leavesWork))
        case .clear: return .cleared(try await broker.clearOnly(queue, &leavesWork))
        case .configure(let change): try await broker.configure(queue, change)
        case .flow(let pattern, let rule?): try await broker.setFlow(queue, matching: pattern, rule)
        case .flow(let pattern, nil): try await broker.deleteFlow(queue, matching: pattern)
        case .begin(let header): return .begun(try await broker.begin(header))
        case .add(let members, let token, let claim):
            return .added(try await broker.addOnly(members, to: WorkflowID(queue: queue, token: token), by: claim))
        case .seal(let token): return .sealed(try await broker.sealOnly(WorkflowID(queue: queue, token: token)))
        case .stop(let token): return .stopped(try await broker.stop(WorkflowID(queue: queue, token: token)))
        }
        return .done
    }
}

extension RedisSubject {
    /// Pushes jobs. Those that were refused because their group is full have the receipt `unknown`, as in the model.
    private func receipts(of jobs: [JobEnvelope]) async throws -> [Receipt] {
        do throws(BrokerError) { return try await broker.push(jobs, to: universe.queue) } catch {
            guard let taken = error.taken else { throw error }
            return zip(jobs, taken).map { $1 ?? Receipt(id: $0.id, queue: universe.queue, outcome: .unknown) }
        }
    }
}
