import Errand
import ErrandCommandLine
import ErrandOperator
import Logging

/// What a command passed over because it cannot be read: it is said on standard error, and the command fails when it has
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
        let queues = Set(map(\.queue)).count
        if queues == 0 { return nil }
        let isForbidden = allSatisfy { $0.error.code == .notPermitted }
        return CommandFailure(
            "\(queues.counted("queue")) cannot be read, or only in part, as said above; \(rest)",
            isForbidden ? ExitStatus.notPermitted : ExitStatus.unsuccessful
        )
    }

    private var unique: [UnreadablePlace] {
        reduce(into: []) { places, place in if !places.contains(place) { places.append(place) } }
    }
}
