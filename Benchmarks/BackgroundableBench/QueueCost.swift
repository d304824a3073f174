import Backgroundable
import Foundation

/// The cost of an operation from its creation until the queue is empty: of a plain one in a plain queue, and of one
/// with a name, a timeout and a policy in a background queue.
///
/// The runs alternate, so that other load on the machine affects both. Only the ratio within a pair counts.
struct QueueCost {
    /// Nanoseconds per operation, one value for each run.
    private(set) var plain: [Double] = []
    private(set) var async: [Double] = []

    var ratios: [Double] {
        zip(async, plain).map { $0 / $1 }
    }

    /// - Parameter width: The queues' `maxConcurrentOperationCount`.
    static func measure(operations: Int, runs: Int, width: Int) -> QueueCost {
        let names = (0..<operations).map { "n\($0)" }
        var cost = QueueCost()
        // The first pair warms up the allocator, threads and caches.
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

    /// Adds the operations on one thread and waits until all of them have finished. Returns the nanoseconds per
    /// operation.
    ///
    /// `waitUntilAllOperationsAreFinished` comes after the countdown, when hardly any operation is left. With thousands
    /// of them it copies lists under the queue's lock. That slows down both kinds of operations equally and would make
    /// the ratio look better than it is.
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
