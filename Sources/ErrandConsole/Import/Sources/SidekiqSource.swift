import Errand
import ErrandOperator

/// Sidekiq's keys: the lists `queue:Q` have the jobs themselves, `schedule` and `retry` those that are due later, and
/// `queue:sq|PROCESS|Q` those that a worker with super_fetch has taken.
struct SidekiqSource: ImportSource {
    private struct Job: Decodable {
        let `class`: String
        let wrapped: String?
        let jid: String?
        let queue: String?
    }

    let redis: ForeignRedis
    let queues: [String]
    let prefix: String

    func places() async throws -> [ImportPlace] {
        var places = try await waiting()
        places += ["schedule", "retry"].map {
            ImportPlace(key: prefix + $0, isSorted: true, queue: "", isStranded: false)
        }
        for key in try await redis.keys(like: prefix + "queue:sq|*|*") {
            let queue = key.split(separator: "|", omittingEmptySubsequences: false).last.map(String.init) ?? ""
            guard queues.isEmpty || queues.contains(queue) else { continue }
            places.append(ImportPlace(key: key, isSorted: false, queue: queue, isStranded: true))
        }
        return places
    }

    /// Returns the lists of the queues. If the set of their names cannot be read, it returns that set with the problem.
    private func waiting() async throws(BrokerError) -> [ImportPlace] {
        let registry = prefix + "queues"
        do throws(BrokerError) {
            let names = queues.isEmpty ? try await redis.members(of: registry).sorted() : queues
            return names.map {
                ImportPlace(key: "\(prefix)queue:\($0)", isSorted: false, queue: $0, isStranded: false)
            }
        } catch {
            guard error.isOfOnePlace else { throw error }
            let hint = "; the queues are not known without it: name them with --source-queue"
            let problem = BrokerError(error.code, error.message + hint)
            return [ImportPlace(key: registry, isSorted: false, queue: "", isStranded: false, problem: problem)]
        }
    }

    func description(of entry: ImportPlace.Entry, in place: ImportPlace) async throws -> OperationDescription {
        let (job, parts): (Job, [String: JSONText])
        do {
            let text = try JSONText(validating: entry.member)
            job = try text.decode(Job.self)
            parts = Dictionary(text.members.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
        } catch { throw ImportProblem("it cannot be read: \(error)") }
        let queue = place.queue.isEmpty ? job.queue ?? "default" : place.queue
        if place.queue.isEmpty, !queues.isEmpty, !queues.contains(queue) {
            throw ImportProblem("it belongs to queue \(queue), which is not asked for")
        }
        if place.isStranded { try await checkIsStranded(place) }
        return try OperationDescription(
            ImportedName.adapted(job.wrapped ?? job.class),
            arguments: parts["args"] ?? .null,
            queue: ImportedName.adapted(queue),
            notBefore: ImportedName.time(entry.score),
            retries: retries(parts),
            id: job.jid.flatMap(ImportedName.id)
        )
    }

    /// Returns the remaining retries. The job's `retry` is a number, `true` for 25, or `false` for none.
    private func retries(_ parts: [String: JSONText]) -> Int {
        let allowed = parts["retry"].flatMap { text in
            (try? text.decode(Int.self)) ?? (try? text.decode(Bool.self)).map { $0 ? 25 : 0 }
        }
        // `retry_count` starts at 0: it is 0 after the first retry.
        let made = parts["retry_count"].flatMap { try? $0.decode(Int.self) }.map { min(max($0, 0), 10_000) + 1 } ?? 0
        return ImportedName.retries(min(max(allowed ?? 25, 0), 10_000) - made)
    }

    /// Checks that the process of a list is dead. A live process has a key with its name that expires.
    private func checkIsStranded(_ place: ImportPlace) async throws {
        let process =
            place.key.split(separator: "|", omittingEmptySubsequences: false).dropFirst().first.map(String.init) ?? ""
        if try await redis.exists(prefix + process) { throw ImportProblem("process \(process) still runs it") }
    }

    func forget(_ entry: ImportPlace.Entry, in place: ImportPlace) async throws(BrokerError) {}
}
