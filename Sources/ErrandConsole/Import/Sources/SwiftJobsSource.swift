import Errand

/// The keys of swift-jobs with its driver for Valkey or Redis: `Q.pending` has the ids by due time, `Q.processing`
/// those that a worker has taken, `Q/ID` the jobs.
struct SwiftJobsSource: ImportSource {
    let redis: ForeignRedis
    let queues: [String]
    /// Whether jobs count as stranded although it is not known whether their worker is alive.
    let stranded: Bool

    func places() async throws -> [ImportPlace] {
        queues.flatMap { queue in
            [
                ImportPlace(key: "\(queue).pending", isSorted: true, queue: queue, isStranded: false),
                ImportPlace(key: "\(queue).processing", isSorted: false, queue: queue, isStranded: true),
            ]
        }
    }

    func description(of entry: ImportPlace.Entry, in place: ImportPlace) async throws -> OperationDescription {
        let id = String(decoding: entry.member, as: UTF8.self)
        if place.isStranded { try await checkIsStranded(id, place) }
        guard let payload = try await redis.text(key(of: id, place)) else {
            throw ImportProblem("its payload \(key(of: id, place)) is missing")
        }
        guard let job = try? JSONText(validating: payload).members, job.count == 1,
            let (name, fields) = job.first.map({ ($0.key, $0.value) })
        else { throw ImportProblem("its payload is not {\"NAME\": {…}}") }
        let parts = Dictionary(fields.members.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
        guard let parameters = parts["p"] else { throw ImportProblem("its payload has no parameters \"p\"") }
        return try OperationDescription(
            ImportedName.adapted(name),
            arguments: parameters,
            queue: place.queue == "_hbJobQueue" ? "default" : ImportedName.adapted(place.queue),
            notBefore: ImportedName.time(entry.score),
            id: ImportedName.id(id),
            meta: (try? parts["t"]?.decode([String: String].self)) ?? [:]
        )
    }

    /// Checks that the job's worker is dead. A live worker holds a key that expires; without a worker's id, a live one
    /// cannot be distinguished from a dead one.
    private func checkIsStranded(_ id: String, _ place: ImportPlace) async throws {
        if let worker = try await redis.field("workerID", of: key(of: id, place) + ".metadata") {
            guard try await redis.exists("\(place.queue).metadata.worker.\(worker)") else { return }
            throw ImportProblem("worker \(worker) still runs it")
        }
        if !stranded {
            throw ImportProblem("it is unknown whether its worker is alive: stop the old workers, then use --stranded")
        }
    }

    func forget(_ entry: ImportPlace.Entry, in place: ImportPlace) async throws(BrokerError) {
        let key = key(of: String(decoding: entry.member, as: UTF8.self), place)
        try await redis.delete(key)
        try await redis.delete(key + ".metadata")
    }

    private func key(of id: String, _ place: ImportPlace) -> String { "\(place.queue)/\(id)" }
}
