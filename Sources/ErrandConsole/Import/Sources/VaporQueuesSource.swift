import Errand

/// The keys of Vapor Queues with its driver for Redis: `vapor_queues[Q]` has the ids, `vapor_queues[Q]-processing`
/// those that a worker has taken, `job:ID` the jobs.
struct VaporQueuesSource: ImportSource {
    private struct Job: Decodable {
        let payload: [UInt8]
        let maxRetryCount: Int
        let jobName: String
        let delayUntil: Double?
        let attempts: Int?
    }

    let redis: ForeignRedis
    let persistenceKey: String
    let queues: [String]
    /// Whether jobs that a worker has taken count as stranded; the library does not record whether the worker is alive.
    let stranded: Bool

    func places() async throws -> [ImportPlace] {
        var places: [ImportPlace] = []
        for queue in queues {
            let key = "\(persistenceKey)[\(queue)]"
            places.append(ImportPlace(key: key, isSorted: false, queue: queue, isStranded: false))
            let taken = key + "-processing"
            let isSorted = try await redis.type(of: taken) == "zset"
            places.append(ImportPlace(key: taken, isSorted: isSorted, queue: queue, isStranded: true))
        }
        return places
    }

    func description(of entry: ImportPlace.Entry, in place: ImportPlace) async throws -> OperationDescription {
        let id = String(decoding: entry.member, as: UTF8.self)
        guard !place.isStranded || stranded else {
            throw ImportProblem("it is unknown whether its worker is alive: stop the old workers, then use --stranded")
        }
        guard let stored = try await redis.text("job:\(id)") else {
            throw ImportProblem("its data job:\(id) is missing")
        }
        let (job, payload): (Job, JSONText)
        do {
            job = try JSONText(validating: stored).decode(Job.self)
            payload = try JSONText(validating: job.payload)
        } catch { throw ImportProblem("its data cannot be read: \(error)") }
        return try OperationDescription(
            ImportedName.adapted(job.jobName),
            arguments: payload,
            queue: ImportedName.adapted(place.queue),
            notBefore: ImportedName.time(job.delayUntil),
            retries: ImportedName.retries(
                job.maxRetryCount.subtractingReportingOverflow(max(0, job.attempts ?? 0)).partialValue
            ),
            id: ImportedName.id(id)
        )
    }

    func forget(_ entry: ImportPlace.Entry, in place: ImportPlace) async throws(BrokerError) {
        try await redis.delete("job:" + String(decoding: entry.member, as: UTF8.self))
    }
}
