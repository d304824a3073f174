import Foundation

/// All measurements.
struct Figures {
    let size: Size
    let narrow: QueueCost
    let wide: QueueCost
    let crowd: CrowdCost
    let deadlines: DeadlineCost

    /// The number of operations that run at the same time in the narrow queues. The wide ones have no limit.
    static let width = 2

    static func measure(_ size: Size) -> Figures {
        Figures(
            size: size,
            narrow: .measure(operations: size.operations, runs: size.runs, width: width),
            wide: .measure(
                operations: size.operations,
                runs: max(3, size.runs / 3),
                width: OperationQueue.defaultMaxConcurrentOperationCount
            ),
            crowd: .measure(crowd: size.crowd, runs: 5),
            deadlines: .measure(count: size.deadlines, spread: size.spread)
        )
    }
}
