import Backgroundable
import Foundation

/// What an operation costs from its making to the moment when the queue is empty again: a plain one through a plain
/// queue, and one with a name, a timeout and a policy through a background queue.
///
/// The runs alternate, so that whatever else the machine does meets both; only the ratio within a pair counts.
struct QueueCost {
    /// Nanoseconds an operation, a pair of runs each.
    private(set) var plain: [Double] = []
    private(set) var async: [Double] = []

    var ratios: [Double] {
        zip(async, plain).map { $0 / $1 }
    }

    /// - Parameter width: The queues' `maxConcurrentOperationCount`.
    static func measure(operations: Int, runs: Int, width: Int) -> QueueCost {
        let names = (0..<operations).map { "n\($0)" }
        var cost = QueueCost()
        // The first pair warms up allocator, threads and caches.
        _ = (plainRun(operations, width), asyncRun(names, width))
        for run in 0..<runs {
            if run.isMultiple(of: 2) {
                cost.plain.append(plainRun(operations, width))
                cost.async.append(asyncRun(names, width))
            } else {
                cost.async.append(asyncRun(names, width))
                cost.plain.append(plainRun(operations, width))
            }
        }
        return cost
    }

    private static func plainRun(_ count: Int, _ width: Int) -> Double {
        run(OperationQueue(), count, width) { _, countdown in
            PlainAsyncOperation {
                $0.finish()
                countdown.step()
            }
        }
    }

    private static func asyncRun(_ names: [String], _ width: Int) -> Double {
        run(BackgroundQueue(), names.count, width) { number, countdown in
            AsyncOperation(name: names[number], timeout: 10, uniquenessPolicy: .drop) {
                $0.finish()
                countdown.step()
            }
        }
    }

    /// One thread adds the operations and waits until all of them have finished.
    ///
    /// `waitUntilAllOperationsAreFinished` comes after the countdown, when hardly any is left: with thousands it copies
    /// lists of them under the queue's lock, which slows down both kinds alike and would make the ratio look better
    /// than it is.
    @inline(__always)
    private static func run(
        _ queue: OperationQueue,
        _ count: Int,
        _ width: Int,
        _ make: (Int, Countdown) -> Operation
    ) -> Double {
        queue.maxConcurrentOperationCount = width
        let countdown = Countdown(count)
        let span = nanoseconds {
            for number in 0..<count {
                queue.addOperation(make(number, countdown))
            }
            countdown.wait()
            queue.waitUntilAllOperationsAreFinished()
        }
        return span / Double(count)
    }
}
