public import Errand
import Logging

extension RedisBroker {
    /// Registers the session, and adds the queue to the registry.
    public func register(_ session: Session, on queue: String) async throws(BrokerError) {
        var call = ScriptCall(.register, on: queue)
        call.add(session.id)
        call.add(session.lease.wholeMilliseconds)
        call.add(session.host)
        call.add(session.pid)
        call.add(session.concurrency)
        call.add(wakeUpSecret)
        call.add(session.startedAt)
        call.add(session.version)
        for (operation, defaults) in session.operations.sorted(by: { $0.key < $1.key }) {
            call.add(operation)
            call.add("\(defaults.timeout.wholeMilliseconds):\(defaults.retries)")
        }
        _ = try await run(call)
        do { try await enter(queue) } catch  where error.code == .full {
            // A worker, which can make room, must be able to start; the push that created the queue has registered it.
            logger.debug("queue not announced", metadata: ["job.queue": "\(queue)", "error": "\(error)"])
        }
    }

    /// Reports and claims in one script and one round trip.
    public func exchange(_ exchange: Exchange, on queue: String) async throws(BrokerError) -> ExchangeReply {
        let reply = try await run(Self.call(exchange, on: queue))
        guard let answer = ExchangeReply(reply, reports: exchange.reports.count) else {
            throw unexpected("an exchange's answer")
        }
        return answer
    }

    private static func call(_ exchange: Exchange, on queue: String) -> ScriptCall {
        let longest = exchange.session.operations.values.map(\.timeout).max() ?? .seconds(10)
        let waitAndGrace = (exchange.longestWait + exchange.stopGrace).wholeMilliseconds
        var call = ScriptCall(.exchange, on: queue)
        call.add(exchange.session.id)
        call.add(exchange.call)
        call.add(exchange.wanted)
        call.add(exchange.freeSlots)
        call.add(exchange.begun)
        call.add(waitAndGrace)
        call.add(waitAndGrace + longest.wholeMilliseconds)
        call.add(8 << 20)
        call.add(exchange.acceptsDirectDispatch ? 1 : 0)
        call.add(reports: exchange.reports)
        return call
    }

    /// Runs the reconciliation script.
    public func reconcile(
        _ session: Session,
        call number: Int,
        runs: [(id: String, token: Token)],
        on queue: String
    ) async throws(BrokerError) -> Reconciliation {
        var call = ScriptCall(.reconcile, on: queue)
        call.add(session.id)
        call.add(number)
        for run in runs {
            call.add(run.id)
            call.add(run.token)
        }
        guard let answer = Reconciliation(try await self.run(call)) else { throw unexpected("reconciliation's answer") }
        return answer
    }

    /// Reads the session's claims, and the length of each body.
    public func claims(of session: Session, on queue: String) async throws(BrokerError) -> [HeldClaim] {
        let key = KeySpace.key(of: queue)
        let held =
            try await command(.command("HGETALL", "\(key):claims:\(session.id)"), for: .queue(queue)).elements ?? []
        var claims: [HeldClaim] = []
        for index in stride(from: 0, to: held.count - 1, by: 2) {
            guard let id = held[index].text,
                let token = held[index + 1].text.flatMap({ Token($0.prefix { $0 != ":" }) })
            else { throw unexpected("a claim") }
            let bytes = try await command(.command("HSTRLEN", key + ":body", id), for: .queue(queue)).number ?? 0
            claims.append(HeldClaim(id: id, token: token, bytes: Int(clamping: bytes)))
        }
        return claims
    }

    /// Stores an update of a running job, and returns whether its claim is still valid.
    public func update(_ update: JobUpdate, of session: Session, on queue: String) async throws(BrokerError) -> Bool {
        var call = ScriptCall(.update, on: queue)
        call.add(session.id)
        call.add(update.id)
        call.add(update.token)
        call.add(update.progress?.members ?? [])
        if let checkpoint = update.checkpoint { call.add(checkpoint) }
        guard let counted = try await run(call).number else { throw unexpected("the reply to an update") }
        return counted == 1
    }

    /// Reads a job's checkpoint.
    public func checkpoint(of id: String, on queue: String) async throws(BrokerError) -> [UInt8]? {
        try await command(.command("HGET", KeySpace.key(of: queue) + ":checkpoints", id), for: .queue(queue)).bytes
    }

    /// Runs the recovery script once.
    public func recover(on queue: String) async throws(BrokerError) -> Recovery {
        guard let recovery = Recovery(try await run(ScriptCall(.recover, on: queue))) else {
            throw unexpected("recovery's answer")
        }
        return recovery
    }

    /// Makes up to 500 due jobs of each kind ready.
    public func promote(on queue: String) async throws(BrokerError) -> Promotion {
        let (promotion, messages) = try await promoteOnce(on: queue)
        if messages > 0 { try await deliver(from: queue) }
        return promotion
    }

    /// Releases the session's claims, and ends it.
    public func release(_ session: Session, on queue: String) async throws(BrokerError) {
        var call = ScriptCall(.release, on: queue)
        call.add(session.id)
        while true {
            let answer = try await run(call).elements ?? []
            guard answer.count == 2, let more = answer[1].number else { throw unexpected("the answer of a release") }
            if more == 0 { return }
        }
    }
}
