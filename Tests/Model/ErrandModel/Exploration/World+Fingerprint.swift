/// What of a world matters for what may still happen: times count from now, tokens and sessions by their order, and
/// workers are interchangeable. Two worlds of one fingerprint have the same future.
struct Fingerprint: Hashable, Sendable {
    let high: UInt64
    let low: UInt64
}

extension World {
    var fingerprint: Fingerprint {
        let one = encoded([0, 1])
        let other = encoded([1, 0])
        return Fingerprint(one.lexicographicallyPrecedes(other) ? one : other)
    }

    private func encoded(_ order: [Int]) -> [UInt8] {
        var writer = Writer(self, order)
        writer.write()
        return writer.bytes
    }

    private struct Writer {
        var bytes: [UInt8] = []
        private let world: World
        private let order: [Int]
        private let tokens: [Token]
        private let sessions: [SessionID]

        init(_ world: World, _ order: [Int]) {
            self.world = world
            self.order = order
            var tokens: Set<Token> = [0]
            var owners: [SessionID] = []
            for index in order { if let session = world.workers[index].session { owners.append(session) } }
            for queue in [world.queue] + (world.saved.map { [$0] } ?? []) {
                for session in queue.sessions.values {
                    tokens.formUnion(session.claims.map(\.token) + [session.begun, session.lastCall?.token ?? 0])
                }
                owners += queue.sessions.keys.sorted()
            }
            for request in world.requests {
                tokens.formUnion(request.call.reports.map(\.token) + [request.call.begun])
                owners.append(request.call.session)
            }
            for worker in world.workers { tokens.formUnion(worker.held.map(\.token) + worker.reports.map(\.token)) }
            owners += world.replies.map(\.session)
            self.tokens = tokens.sorted()
            var seen: Set<SessionID> = []
            sessions = owners.filter { seen.insert($0).inserted }
            bytes.reserveCapacity(300)
        }

        private mutating func add(_ number: Int) { bytes.append(UInt8(truncatingIfNeeded: number)) }
        private mutating func add(_ token: Token) { add(tokens.firstIndex(of: token) ?? 255) }
        private mutating func add(session: SessionID?) { add(session.flatMap { sessions.firstIndex(of: $0) } ?? 255) }
        /// A time as ticks from now; what is long past is past.
        private mutating func add(time: Time?, past: Time = -1) {
            guard let time else { return add(255) }
            add(Int(max((time - world.now) / World.tick, past)) + 100)
        }

        mutating func write() {
            write(world.queue)
            if let saved = world.saved {
                add(77)
                write(saved)
                for id in world.ledger.savedAccepted.sorted() { add(id) }
            }
            for index in order { write(world.workers[index]) }
            add(78)
            for request in sorted(world.requests) { add(request) }
            add(79)
            for reply in world.replies.sorted(by: { (place($0.worker), $0.number) < (place($1.worker), $1.number) }) {
                write(reply)
            }
            add(80)
            for push in world.unsent { add(push.id) }
            add(81)
            for push in world.unanswered { add(push.id) }
            let faults = world.faults
            bytes += [
                82, faults.lost, faults.crashes, faults.pauses, faults.rollbacks, faults.cancels, faults.restarts,
                faults.registrations,
            ]
            .map { UInt8(truncatingIfNeeded: $0) }
            for id in world.ledger.accepted.sorted() { add(id) }
            add(83)
            for id in world.ledger.finished.sorted() { add(id) }
        }

        private func place(_ worker: Int) -> Int { order.firstIndex(of: worker) ?? 0 }

        private func sorted(_ requests: [Request]) -> [Request] {
            requests.sorted { (place($0.worker), $0.call.number) < (place($1.worker), $1.call.number) }
        }

        private mutating func write(_ queue: QueueModel) {
            for job in queue.jobs.values.sorted(by: { $0.id < $1.id }) { write(job) }
            add(84)
            for (line, ids) in queue.lines.sorted(by: { "\($0.key)" < "\($1.key)" }) {
                add(line == .suspects ? 1 : 0)
                for id in ids { add(id) }
            }
            add(85)
            for session in sessions { if let state = queue.sessions[session] { write(state, session) } }
            add(86)
            add(session: queue.solo)
            add(time: queue.lastBeat, past: -2)
            add(time: max(queue.graceEnds, world.now))
            add(queue.gapNoticed == queue.lastBeat ? 1 : 0)
            for id in [0, 1, 2] { add(queue.ended.ending(of: id, at: queue.now)?.rawValue ?? 9) }
        }

        private mutating func write(_ job: Job) {
            bytes += [10, UInt8(job.id), UInt8(job.failures), UInt8(job.crashes), UInt8(job.crashesAlone)]
            add(job.stop?.rawValue ?? 9)
            add(job.successor ?? 9)
            if job.pushed.due > world.now { add(time: job.pushed.due) }
            switch job.place {
            case .line: add(1)
            case .scheduled(let due):
                add(2)
                add(time: due)
            case .retrying(let due):
                add(3)
                add(time: due)
            case .claimed(let session):
                add(4)
                add(session: session)
            case .behind(let holder):
                add(5)
                add(holder)
            case .dead: add(6)
            }
        }

        private mutating func write(_ state: SessionState, _ session: SessionID) {
            add(session: session)
            add(time: state.leaseEnds)
            // Of dead sessions, the one that died first is recovered first.
            add(world.queue.sessions.values.count { $0.leaseEnds < state.leaseEnds && $0.leaseEnds <= world.now })
            add(state.begun)
            let owner = world.workers.first { $0.session == session }
            // Numbers of calls matter by their distance to the newest.
            add(owner.map { $0.lastNumber - (state.lastCall?.number ?? 0) } ?? 100)
            add(state.lastCall?.token ?? 0)
            for accepted in state.lastCall?.accepted ?? [] { add(accepted ? 1 : 0) }
            for claim in state.claims {
                add(claim.id)
                add(claim.token)
                add(time: claim.deadline)
            }
        }

        private mutating func write(_ worker: Worker) {
            add((worker.isUp ? 1 : 0) + (worker.isPaused ? 2 : 0) + (worker.awaited == nil ? 0 : 4))
            add(session: worker.session)
            for claim in worker.held {
                add(claim.id)
                add(claim.token)
                add(claim.attempt)
                add(worker.stops.contains(claim.id) ? 1 : 0)
            }
            add(87)
            for report in worker.reports { write(report) }
        }

        private mutating func write(_ report: Report) {
            add(report.id)
            add(report.token)
            add(report.verb.rawValue * 4 + report.attempt)
        }

        private mutating func add(_ request: Request) {
            let known = world.queue.sessions[request.call.session]?.lastCall?.number ?? 0
            add(place(request.worker))
            add(session: request.call.session)
            add(min(max(request.call.number - known, -1), 1))
            add(request.call.wanted)
            add(request.call.begun)
            for report in request.call.reports { write(report) }
        }

        private mutating func write(_ reply: Reply) {
            let worker = world.workers[reply.worker]
            add(place(reply.worker))
            add(session: reply.session)
            // A late answer is not looked at, whatever it says.
            guard worker.session == reply.session, worker.awaited?.number == reply.number else { return add(92) }
            guard case .exchanged(let accepted, let claims, _, _) = reply.answer else { return add(90) }
            for verdict in accepted { add(verdict ? 1 : 0) }
            add(91)
            for claim in claims {
                add(claim.id)
                add(claim.attempt)
            }
        }
    }
}

extension Fingerprint {
    /// Two independent 64-bit hashes; that two of a hundred million worlds share both is out of the question.
    init(_ bytes: [UInt8]) {
        var high: UInt64 = 0xCBF2_9CE4_8422_2325
        var low: UInt64 = 0x9E37_79B9_7F4A_7C15
        for byte in bytes {
            high = (high ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
            low = (low &+ UInt64(byte) &+ 1) &* 0xD129_0DDB_53C4_3E49
            low ^= low >> 29
        }
        self.high = high
        self.low = low
    }
}
