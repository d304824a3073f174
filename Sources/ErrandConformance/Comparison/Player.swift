import Errand
import Foundation

/// Plays random transitions on one broker, and puts into words what came of each.
final class Player {
    private let stage: Stage
    private var numbers: SeededNumbers
    private var hands: [Hand]
    private var claims: [[Claim]]
    private var lastReports: [[OutcomeReport]] = [[], []]
    private var pushed = 0

    init(_ stage: Stage, seed: UInt64) async throws {
        self.stage = stage
        numbers = SeededNumbers(seed: seed)
        // One knows both operations, the other only one.
        hands = [
            try await stage.session(operations: ["work": .init(), "rare": .init()]),
            try await stage.session(operations: ["work": .init()]),
        ]
        claims = [[], []]
    }

    /// Makes one transition and answers all that can be seen of it.
    func step() async throws -> String {
        let answer: String
        switch number(12) {
        case 0...2: answer = try await push()
        case 3...4: answer = try await claim()
        case 5...7: answer = try await report()
        case 8: answer = "cancel \(try await stage.broker.cancel(someIDs(), on: stage.queue).map(\.rawValue))"
        case 9: answer = "delete \(try await stage.broker.delete(someIDs(), on: stage.queue).map(\.rawValue))"
        case 10: answer = "revive \(try await stage.broker.revive(someIDs(), on: stage.queue))"
        default: answer = try await rareStep()
        }
        return answer + "\n" + (try await view())
    }

    private func rareStep() async throws -> String {
        switch number(6) {
        case 0: return "clear \(try await stage.broker.clear(stage.queue))"
        case 1: return "promote \(try await stage.broker.promote(on: stage.queue).promoted)"
        case 2:
            let paused = number(3) == 0
            try await stage.broker.configure(stage.queue, QueueSettings(isPaused: paused, publishesStarts: !paused))
            return "paused \(paused)"
        case 3: return "beat \(try await beats())"
        case 4: return "recover \(try await stage.broker.recover(on: stage.queue))"
        default: return try await resend()
        }
    }

    private func push() async throws -> String {
        var jobs: [JobEnvelope] = []
        for _ in 0...number(3) { jobs.append(try randomJob()) }
        let receipts = try await stage.broker.push(jobs, to: stage.queue)
        return "push " + receipts.map { "\($0.id) \($0.outcome) \($0.holder ?? "-")" }.joined(separator: ", ")
    }

    private func randomJob() throws -> JobEnvelope {
        let isNew = number(8) > 0 || pushed == 0
        if isNew { pushed += 1 }
        let policies: [UniquenessPolicy] = [.ignore, .drop, .replace, .replace]
        return try stage.job(
            isNew ? id(pushed) : id(1 + number(pushed)),
            policies[number(4)],
            name: "name \(number(3))",
            operation: number(5) == 0 ? "rare" : "work",
            priority: [nil, nil, 2, 9][number(4)],
            delay: number(5) == 0 ? 3_600_000 + Int64(number(5)) * 600_000 : nil
        )
    }

    private func claim() async throws -> String {
        let hand = number(2)
        let answer = try await hands[hand].exchange(wanted: 1 + number(4), free: number(2))
        lastReports[hand] = []
        claims[hand] += answer.claims
        return "claim \(words(answer))"
    }

    private func report() async throws -> String {
        let hand = number(2)
        var reports: [OutcomeReport] = []
        for _ in 0...number(2) where !claims[hand].isEmpty { reports.append(randomReport(of: hand)) }
        let answer = try await hands[hand].exchange(reports: reports, wanted: number(2))
        lastReports[hand] = reports
        // At once, so that it does not matter in which millisecond a retry was due.
        _ = try await stage.broker.promote(on: stage.queue)
        claims[hand] += answer.claims
        return "report \(reports.map { "\($0.verb) \($0.id)" }) \(words(answer))"
    }

    private func randomReport(of hand: Int) -> OutcomeReport {
        let index = number(claims[hand].count)
        // Sometimes the claim is kept here, so that it is reported again later, in vain.
        let claim = number(10) == 0 ? claims[hand][index] : claims[hand].remove(at: index)
        let verb = OutcomeReport.Verb.allCases[number(OutcomeReport.Verb.allCases.count)]
        // Which of several parked operations goes first is not settled, so only one is ever parked.
        let isRare = (try? JobEnvelope.read(stored: claim.body))?.description.operation == "rare"
        return Hand.outcome(
            verb == .parked && !isRare ? .released : verb,
            claim,
            error: number(2) == 0 ? "reason" : nil,
            result: number(3) == 0 ? "result" : "",
            retryDelay: number(2) == 0 ? [0, 3_600_000][number(2)] : nil
        )
    }

    private func resend() async throws -> String {
        guard hands[0].lastCall > 0 else { return "" }
        let answer = try await hands[0].exchange(reports: lastReports[0], call: hands[0].lastCall)
        return "resend \(answer.accepted) \(answer.claims.map { "\($0.id) \($0.attempt) \($0.crashes)" }.sorted())"
    }

    private func beats() async throws -> String {
        var words: [String] = []
        for hand in hands {
            let beat = try await hand.beat()
            words.append("\(beat.claims) \(beat.stops.map(\.id).sorted())")
        }
        return words.joined(separator: ", ")
    }

    private func words(_ answer: ExchangeAnswer) -> String {
        let claims = answer.claims.map { "\($0.id) \($0.attempt) \($0.crashes)" }
        return "\(answer.accepted) \(claims) \(answer.isPaused)"
    }

    /// Everything that can be seen of the queue, without times.
    private func view() async throws -> String {
        let events = try await stage.log.drain().map {
            "\($0.kind) \($0.id) \($0.attempt) \(who($0.worker)) \($0.duration) \($0.error ?? "-") \($0.name ?? "-")"
        }
        let (status, sessions) = try await stage.broker.status(of: stage.queue)
        let counts = [status.ready, status.scheduled, status.running, status.retrying, status.dead, status.deferred]
        let totals = QueueStatus.Totals.names.map { status.totals[$0] }
        let running = hands.map { hand in sessions.first { $0.id == hand.id }?.running ?? -1 }
        let records = try await stage.broker.inspect((0...pushed).map(id), on: stage.queue).map { record in
            guard let record else { return "-" }
            return "\(record.id) \(record.state) \(record.failures) \(record.crashes) \(who(record.session)) "
                + "\(record.result.count) \(record.lastEvent.isEmpty) \(record.body.count)"
        }
        return """
            events \(events)
            counts \(counts) \(status.unknownOperations["rare"] ?? 0) totals \(totals) running \(running)
            records \(records)
            """
    }

    private func who(_ session: String?) -> String {
        session.flatMap { id in hands.firstIndex { $0.id == id } }.map { "hand \($0)" } ?? "-"
    }

    private func someIDs() -> [String] {
        let first = number(pushed + 1)
        return (first...first + number(3)).map(id)
    }

    private func id(_ number: Int) -> String { "j\(1000 + number)" }

    private func number(_ below: Int) -> Int { Int.random(in: 0..<below, using: &numbers) }
}
