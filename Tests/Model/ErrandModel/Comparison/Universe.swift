package import Errand

/// The texts that stand for the model's numbers, and everything of a fixed wording, made once.
package final class Universe: Sendable {
    package static let idCount = 24
    package static let sessionCount = 5
    package static let nameCount = 3
    package static let operationCount = 2

    /// Names of queues are all of this length, so that events are too.
    package let queue: String
    package let ids: [String]
    package let sessions: [String]
    package let names: [String]
    package let operations: [String]
    package static let error = "reason"
    package static let result = Array("result".utf8)

    /// - Parameter sessionCount: How many sessions there may be.
    package init(queue number: Int = 0, sessionCount: Int = Universe.sessionCount) {
        queue = "q" + String(10_000_000 + number)
        ids = (0..<Self.idCount).map { "j" + String($0 + 100).dropFirst() }
        // Of one length, so that their order is that of the numbers.
        sessions = (0..<sessionCount).map { sessionCount > 10 && $0 < 10 ? "session-0\($0)" : "session-\($0)" }
        names = (0..<Self.nameCount).map { "name \($0)" }
        operations = (0..<Self.operationCount).map { "op\($0)" }
    }

    /// The digits of a text, as a number.
    package static func number(_ text: String) -> Int {
        text.utf8.reduce(0) { (48...57).contains($1) ? $0 &* 10 &+ Int($1 &- 48) : $0 }
    }

    package func session(_ registration: Registration) -> Session {
        var defaults: [String: OperationDefaults] = [:]
        for (operation, one) in registration.operations {
            defaults[operations[operation]] = OperationDefaults(
                timeout: .milliseconds(one.timeout),
                retries: one.retries
            )
        }
        return Session(
            id: sessions[registration.session],
            host: "host",
            pid: Int32(registration.pid),
            concurrency: 4,
            queues: [queue],
            lease: .milliseconds(registration.lease),
            operations: defaults
        )
    }

    /// The call as a broker gets it. A broker goes by the operations that the session registered with.
    package func exchange(_ call: Call, _ registration: Registration) -> Exchange {
        Exchange(
            session: session(registration),
            call: call.number,
            reports: call.reports.map(report),
            wanted: call.wanted,
            freeSlots: call.freeSlots,
            begun: Errand.Token(call.begun),
            longestWait: .milliseconds(call.waitAndGrace),
            stopGrace: .zero,
            acceptsDirectDispatch: call.acceptsDirectDispatch
        )
    }

    private func report(_ report: Report) -> OutcomeReport {
        let verbs: [OutcomeReport.Verb] = [
            .finished, .failed, .timedOut, .cancelled, .released, .parked, .snoozed, .unreadable,
        ]
        return OutcomeReport(
            id: ids[report.id],
            token: Errand.Token(report.token),
            verb: verbs[report.verb.rawValue],
            attempt: report.attempt,
            milliseconds: report.duration,
            fragment: fragment(report),
            error: report.hasError ? Self.error : nil,
            result: report.hasResult ? Self.result : [],
            retryDelay: report.retryDelay.map { Int($0) }
        )
    }

    private func fragment(_ report: Report) -> [UInt8] {
        guard let operation = report.operation else { return Array(#""operation":null,"name":null"#.utf8) }
        var fragment: [UInt8] = []
        appendFragment(operation, report.name, to: &fragment)
        return fragment
    }

    package func settings(_ change: SettingsChange) -> QueueSettings {
        QueueSettings(
            isPaused: change.isPaused,
            maximumLength: change.maximumLength,
            rememberIDsMilliseconds: change.rememberIDs,
            keepHistoryMilliseconds: change.keepHistory,
            publishesStarts: change.publishesStarts
        )
    }
}

/// Makes envelopes, each wording once.
package struct Envelopes {
    private var made: [Push: JobEnvelope] = [:]

    package init() {}

    package mutating func envelope(_ push: Push, _ universe: Universe) throws -> JobEnvelope {
        var plain = push
        plain.due = 0
        if let known = made[plain] { return known.due(at: push.due) }
        let policies: [UniquenessPolicy] = [.ignore, .drop, .replace]
        let envelope = try OperationDescription(
            universe.operations[push.operation],
            name: push.name.map { universe.names[$0] },
            unique: policies[push.policy.rawValue],
            uniqueUntil: push.isUniqueUntilStarted ? .started : nil,
            timeout: push.timeout.map { .milliseconds($0) },
            retries: push.retries,
            priority: push.priority,
            id: universe.ids[push.id]
        ).makeEnvelope()
        made[plain] = envelope
        return envelope.due(at: push.due)
    }
}
