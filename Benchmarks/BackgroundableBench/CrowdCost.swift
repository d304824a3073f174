import Backgroundable
import Foundation

/// What adding one more unique name costs, at first and when very many wait already. The queue is suspended, so nobody
/// leaves.
struct CrowdCost {
    /// Nanoseconds an add, of the first thousand.
    let first: Double
    /// Nanoseconds an add, of the thousand after the crowd.
    let late: Double

    static func measure(crowd: Int, runs: Int) -> CrowdCost {
        // The first round warms up.
        let rounds = (0..<runs + 1).map { _ in round(crowd) }.dropFirst()
        return CrowdCost(first: rounds.map(\.first).median, late: rounds.map(\.late).median)
    }

    private static func round(_ crowd: Int) -> CrowdCost {
        let names = (0..<crowd + 1_000).map { "n\($0)" }
        let queue = BackgroundQueue()
        queue.isSuspended = true
        let first = add(names.prefix(1_000), to: queue)
        _ = add(names[1_000..<crowd], to: queue)
        let late = add(names.suffix(1_000), to: queue)
        queue.cancelAllOperations()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        return CrowdCost(first: first, late: late)
    }

    /// The median of batches of a hundred: one interruption does not count.
    private static func add(_ names: ArraySlice<String>, to queue: BackgroundQueue) -> Double {
        stride(from: names.startIndex, to: names.endIndex, by: 100).map { start in
            let batch = names[start..<min(start + 100, names.endIndex)]
            let span = nanoseconds {
                for name in batch {
                    queue.addOperation(AsyncOperation(name: name, uniquenessPolicy: .drop) { $0.finish() })
                }
            }
            return span / Double(batch.count)
        }.median
    }
}
