package import Errand
package import ErrandRedis

/// The real scripts on a real server, driven by the model's commands, each history in a queue of its own.
package actor RedisSubject {
    private let universe: Universe
    private let broker: RedisBroker
    private let scripts: Scripts
    private var registrations: [SessionID: Registration] = [:]
    private var envelopes = Envelopes()

    /// The digests of the checks' own scripts.
    package struct Scripts: Sendable {
        let dump: String
        let wipe: String

        package init(on broker: RedisBroker) async throws {
            dump = try await broker.load(Array(DumpScript.text.utf8))
            wipe = try await broker.load(Array(DumpScript.wipe.utf8))
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
            .command("HSET", key + ":test", "now", String(step.time), "look", look(of: step.command))
        )
        // The model's queue exists from the beginning.
        _ = try await broker.command(.command("HSET", key + ":runtime", "created", "1"))
    }

    private func look(of command: Command) -> String {
        if case .recover(let session?) = command { return universe.sessions[session] }
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
                String(Universe.operationCount),
                String(next.time),
                look(of: next.command)
            )
        )
        let parts = dump.elements ?? []
        var news = News(secret: broker.hintSecret)
        let published = parts.count > 1 ? parts[1].elements ?? [] : []
        for start in stride(from: 0, to: published.count - 1, by: 2) {
            news.add(channel: published[start].text ?? "", published[start + 1].bytes ?? [])
        }
        return Observation(
            answer: answer,
            words: Self.words(parts.first?.bytes ?? []),
            events: news.events,
            workHints: news.work,
            stopHints: news.stop,
            handed: news.handed,
            waiting: Set((parts.last?.elements ?? []).compactMap(\.text).map(Universe.number))
        )
    }

    func view() async throws -> ConsoleView {
        let (status, sessions) = try await broker.status(of: universe.queue)
        return ConsoleView(status, sessions, try await broker.inspect(universe.ids, on: universe.queue))
    }

    /// What the audit finds.
    package func findings() async throws -> [Finding] { try await broker.audit(universe.queue, repair: false) }

    package func wipe() async throws { _ = try await broker.command(.command("EVALSHA", scripts.wipe, "1", key)) }

    private static func words(_ text: [UInt8]) -> [Int64] {
        text.split(separator: UInt8(ascii: " ")).map { Int64(String(decoding: $0, as: UTF8.self)) ?? -98 }
    }

    private struct News {
        let secret: String
        var events: [UInt8] = []
        var work: [SessionID] = []
        var stop: [SessionID] = []
        var handed: DirectDispatch?

        mutating func add(channel: String, _ message: [UInt8]) {
            if channel.hasSuffix(":events") {
                if !events.isEmpty { events.append(UInt8(ascii: "\n")) }
                events += message
            } else {
                let session = Universe.number(String(channel.suffix(1)))
                if message == Array("s".utf8) {
                    stop.append(session)
                } else if let given = DispatchedClaim(message, secret: secret) {
                    handed = DirectDispatch(session: session, call: given.call, claim: GivenClaim(given.claim))
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
            return Answer(error)
        }
    }

    private func isRefusal(_ error: BrokerError) -> Bool {
        error.code == .refused && !error.message.contains("user_script")
    }

    private func made(_ command: Command) async throws -> Answer {
        let queue = universe.queue
        switch command {
        case .push(let pushes, _):
            var jobs: [JobEnvelope] = []
            for push in pushes { jobs.append(try envelopes.envelope(push, universe)) }
            return Answer(try await broker.push(jobs, to: queue))
        case .register(let registration):
            try await broker.register(universe.session(registration), on: queue)
            registrations[registration.session] = registration
            return .done
        case .exchange(let call):
            let exchange = universe.exchange(call, registration(of: call.session))
            return Answer(try await broker.exchange(exchange, on: queue))
        case .beat(let session, let lease, let begun):
            var registration = registration(of: session)
            registration.lease = lease
            let session = universe.session(registration)
            return Answer(try await broker.beat(of: session, on: queue, begun: Errand.Token(begun)))
        case .release(let session):
            try await broker.release(universe.session(registration(of: session)), on: queue)
            return .done
        case .promote:
            let promotion = try await broker.promote(on: queue)
            return .promoted(promotion.promoted, next: promotion.nextDue.map { Time($0) })
        case .reconcile(let session, let number, let known):
            let runs = known.map { (id: universe.ids[$0.id], token: Errand.Token($0.token)) }
            let whole = universe.session(registration(of: session))
            return Answer(try await broker.reconcile(whole, call: number, runs: runs, on: queue))
        case .recover:
            let recovery = try await broker.recover(on: queue)
            return .recovered(recovery.recovered, more: recovery.hasMore)
        case .cancel(let ids): return Answer(try await broker.cancel(ids.map { universe.ids[$0] }, on: queue))
        case .delete(let ids): return Answer(try await broker.delete(ids.map { universe.ids[$0] }, on: queue))
        case .retry(let ids): return Answer(try await broker.retry(ids.map { universe.ids[$0] }, on: queue))
        case .clear: return .cleared(try await broker.clear(queue))
        case .configure(let change):
            try await broker.configure(queue, universe.settings(change))
            return .done
        }
    }

    private func registration(of session: SessionID) -> Registration {
        registrations[session] ?? Registration(session: session, lease: 1000)
    }
}
