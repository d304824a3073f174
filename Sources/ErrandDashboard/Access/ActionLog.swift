import ErrandOperator
import Foundation
import Logging
import Synchronization

/// Operators' actions: logs each of them, and keeps the latest for the Actions page.
final class ActionLog: Sendable {
    struct Entry: Sendable {
        let time: Int64
        let user: String
        let action: String
        let target: String
        let outcome: String
        /// The jobs whose ids are in the target or in the outcome.
        let jobs: [JobPlace]
    }

    private static let kept = 500

    private let logger: Logger
    private let entries = Mutex<[Entry]>([])

    init(logger: Logger) { self.logger = logger }

    /// The kept entries, latest first.
    var latest: [Entry] { entries.withLock { $0.reversed() } }

    func note(_ user: String, _ action: String, _ target: String, _ outcome: String, about jobs: [JobPlace] = []) {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let entry = Entry(time: now, user: user, action: action, target: target, outcome: outcome, jobs: jobs)
        logger.notice(
            "operator action",
            metadata: [
                "user": "\(user)", "action": "\(action)", "target": "\(target)", "outcome": "\(outcome)",
            ]
        )
        entries.withLock { entries in
            entries.append(entry)
            if entries.count > Self.kept { entries.removeFirst(entries.count - Self.kept) }
        }
    }
}
