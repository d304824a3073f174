import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import Logging

/// What a command passed over because it cannot be read or changed: it is said on standard error, and the command fails when it has
/// done the rest.
extension [UnreadablePlace] {
    /// Writes each place once, with its reason.
    func warn() {
        for place in unique { StandardError.write("warning: \(place.description.onOneLine())", as: .warning) }
    }

    /// Writes each place, and ends the command with a failure if there is one.
    ///
    /// - Parameter rest: what became of everything else: `the others are shown`.
    func fail(_ rest: String) throws(CommandFailure) {
        warn()
        if let failure = failure(rest) { throw failure }
    }

    /// The failure for places that ``warn()`` has named; `nil` without any.
    func failure(_ rest: String) -> CommandFailure? {
        if isEmpty { return nil }
        let uses = contains { $0.use == .changed } ? "read or changed" : "read"
        return CommandFailure(
            "\(queues.count.counted("queue")) cannot be \(uses), or only in part, as said above; \(rest)",
            status
        )
    }

    /// The exit status of a command that passed these over, and did the rest.
    var status: ExitCode {
        allSatisfy { $0.error.code == .notPermitted } ? ExitStatus.notPermitted : ExitStatus.unsuccessful
    }

    /// The queues by name: `queue a`, `queues a, b`.
    var queueNames: String { (queues.count == 1 ? "queue " : "queues ") + queues.joined(separator: ", ") }

    private var queues: [String] { Set(map(\.queue)).sorted() }

    private var unique: [UnreadablePlace] {
        reduce(into: []) { places, place in if !places.contains(place) { places.append(place) } }
    }
}
