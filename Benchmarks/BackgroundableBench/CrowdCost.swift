import Backgroundable
import Foundation

/// The cost of adding an operation with a unique name, in an empty queue and behind very many waiting operations. The
/// queue is suspended, so no operation leaves.
struct CrowdCost {
    /// Nanoseconds per operation, for the first thousand.
    let first: Double
    /// Nanoseconds per operation, for the last thousand.
    let late: Double

    static func measure(crowd: Int, runs: Int) -> CrowdCost {
        // The first round warms up and is dropped.
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

    /// Returns the median of batches of a hundred, so that a single interruption does not count.
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
