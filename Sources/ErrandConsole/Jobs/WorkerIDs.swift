import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The ids of workers on the command line, which `errand status` shortens on a terminal.
enum WorkerIDs {
    /// Returns the whole id of a worker for its id with an ellipsis; other texts unchanged.
    ///
    /// - Throws: `CommandFailure` if there are several.
    static func whole(_ text: String, in queues: [String], of broker: RedisBroker) async throws -> String {
        let part = PartialID(text)
        guard part.hasEllipsis, part.isSearchable else { return part.text }
        let read = try await queues.readingEach { queue throws(BrokerError) in try await broker.status(of: queue) }
        let ids = Set(read.values.flatMap { $0.value.sessions.map(\.id) })
        let found = ids.filter { part.isPart(of: $0) }
        guard found.count < 2 else {
            throw CommandFailure(
                "the ids of \(found.count.grouped) workers have \(part.text); write more of the id",
                ExitStatus.unsuccessful
            )
        }
        return found.first ?? part.text
    }
}
