import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// A search for the jobs whose ids begin or end like the parts on the command line.
struct PartialIDs {
    /// The number of ids that the server compares in a call, which takes it about a millisecond.
    private static let step = 2000

    let broker: RedisBroker
    let queues: [String]

    /// Returns the whole ids for parts of ids, by the texts of the parts.
    ///
    /// - Throws: `CommandFailure` if several ids have the same part.
    func wholeIDs(of parts: [PartialID]) async throws -> [String: String] {
        var whole: [String: String] = [:]
        for part in parts where part.isSearchable {
            var found: Set<String> = []
            for queue in queues { found.formUnion(try await ids(with: part, on: queue)) }
            guard found.count < 2 else { throw ambiguous(part, found) }
            whole[part.text] = found.first
        }
        return whole
    }

    private func ambiguous(_ part: PartialID, _ found: Set<String>) -> CommandFailure {
        let some = found.sorted().prefix(3).joined(separator: ", ") + (found.count > 3 ? ", …" : "")
        return CommandFailure(
            "\(found.count.grouped) jobs have ids with \(part.text): \(some); nothing was done, write more of the id",
            ExitStatus.unsuccessful
        )
    }

    private func ids(with part: PartialID, on queue: String) async throws(BrokerError) -> Set<String> {
        let key = KeySpace.key(of: queue)
        let (unfinished, ended) = ("\(key):body", "\(key):history")
        return try await fields(of: unfinished, with: part, queue).union(try await fields(of: ended, with: part, queue))
    }

    /// Returns the fields of a hash. Ids have no characters that a pattern treats specially.
    private func fields(of key: String, with part: PartialID, _ queue: String) async throws(BrokerError) -> Set<String>
    {
        var (found, cursor): (Set<String>, String) = ([], "0")
        repeat {
            let scan = CommandWriter.command("HSCAN", key, cursor, "MATCH", "*\(part.text)*", "COUNT", "\(Self.step)")
            let reply = try await broker.command(scan, for: .queue(queue)).elements ?? []
            cursor = reply.first?.text ?? "0"
            let pairs = reply.dropFirst().first?.elements ?? []
            for index in stride(from: 0, to: pairs.count, by: 2) {
                if let id = pairs[index].text, part.isPart(of: id) { found.insert(id) }
            }
        } while cursor != "0"
        return found
    }
}
