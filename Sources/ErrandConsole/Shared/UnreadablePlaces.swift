import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import Logging

/// The parts that a command skipped because they cannot be read or changed. It reports them on standard error, and
/// fails after it has done the rest.
extension [UnreadablePlace] {
    /// Writes a warning for each place, once, with its reason.
    func warn() {
        for place in unique { StandardError.write("warning: \(place.description.onOneLine())", as: .warning) }
    }

    /// Writes the warnings, and throws a failure if there is a place.
    ///
    /// - Parameter rest: The result for everything else: `the others are shown`.
    func fail(_ rest: String) throws(CommandFailure) {
        warn()
        if let failure = failure(rest) { throw failure }
    }

    /// Returns the failure for the places that ``warn()`` has reported; `nil` if there are none.
    func failure(_ rest: String) -> CommandFailure? {
        if isEmpty { return nil }
        let uses = contains { $0.use == .changed } ? "read or changed" : "read"
        return CommandFailure(
            "\(queues.count.counted("queue")) cannot be \(uses), or only in part, as listed above; \(rest)",
            status
        )
    }

    /// The exit status of a command that skipped these places and did the rest.
    var status: ExitCode {
        if contains(where: { $0.error.code == .notReachable }) { return ExitStatus.unavailable }
        return allSatisfy { $0.error.code == .notPermitted }
            ? ExitStatus.notPermitted : ExitStatus.unsuccessful
    }

    /// The names of the queues: `queue a`, `queues a, b`.
    var queueNames: String { (queues.count == 1 ? "queue " : "queues ") + queues.joined(separator: ", ") }

    private var queues: [String] { Set(map(\.queue)).sorted() }

    private var unique: [UnreadablePlace] {
        reduce(into: []) { places, place in if !places.contains(place) { places.append(place) } }
    }
}
