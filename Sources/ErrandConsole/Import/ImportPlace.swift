import Errand
import ErrandRedis

/// A key of another library that contains waiting jobs, or jobs that a dead worker has left behind.
struct ImportPlace: Sendable {
    /// The key.
    let key: String
    /// Whether the key is a sorted set. Otherwise it is a list, whose last entry is next.
    let isSorted: Bool
    /// The queue's name in the other library.
    let queue: String
    /// Whether its jobs were taken by a worker.
    let isStranded: Bool
    /// The reason why the key cannot be read, if it is known already.
    var problem: BrokerError?

    /// One entry of the key.
    struct Entry: Sendable {
        let member: [UInt8]
        let score: Double?
    }

    /// Reads a page of entries, next ones first; `offset` counts from the next one.
    func entries(from offset: Int, count: Int, _ redis: ForeignRedis) async throws(BrokerError) -> [Entry] {
        if isSorted {
            let (first, last) = (Array(String(offset).utf8), Array(String(offset + count - 1).utf8))
            let flat =
                try await redis.run(
                    Array("ZRANGE".utf8),
                    Array(key.utf8),
                    first,
                    last,
                    Array("WITHSCORES".utf8)
                ).elements ?? []
            return stride(from: 0, to: flat.count - 1, by: 2).compactMap { index in
                flat[index].bytes.map { Entry(member: $0, score: flat[index + 1].text.flatMap(Double.init)) }
            }
        }
        let (first, last) = (Array(String(-offset - count).utf8), Array(String(-offset - 1).utf8))
        let texts = try await redis.run(Array("LRANGE".utf8), Array(key.utf8), first, last).elements ?? []
        return texts.reversed().compactMap { $0.bytes.map { Entry(member: $0, score: nil) } }
    }

    /// Removes an entry and returns whether it was still there.
    func remove(_ entry: Entry, _ redis: ForeignRedis) async throws(BrokerError) -> Bool {
        let reply =
            isSorted
            ? try await redis.run(Array("ZREM".utf8), Array(key.utf8), entry.member)
            : try await redis.run(Array("LREM".utf8), Array(key.utf8), Array("-1".utf8), entry.member)
        return (reply.number ?? 0) > 0
    }
}

/// The reason why an entry of another library cannot be moved.
struct ImportProblem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
