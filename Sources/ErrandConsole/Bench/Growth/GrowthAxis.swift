import ArgumentParser

/// What is made larger, while everything else stays as it is.
enum GrowthAxis: String, CaseIterable, ExpressibleByArgument, Sendable {
    case waiting, workers, queues, bodies

    /// What stands at the axis of the plot.
    var title: String {
        switch self {
        case .waiting: "jobs waiting"
        case .workers: "worker processes"
        case .queues: "queues of one worker"
        case .bodies: "bytes a body"
        }
    }

    /// How much of it is measured.
    ///
    /// - Parameter most: the most jobs that wait at once.
    func values(most: Int) -> [Int] {
        switch self {
        case .waiting: [10_000, 100_000, 1_000_000, 5_000_000].filter { $0 <= most }
        case .workers: [1, 2, 4, 8, 16]
        case .queues: [1, 10, 100]
        case .bodies: [100, 1024, 10_240, 102_400]
        }
    }

    /// What may depend on it. Workers do not push, and waiting jobs or their bodies are nothing to idle workers.
    var figures: [GrowthFigure] {
        switch self {
        case .waiting, .bodies: [.push, .drain, .server, .bytes]
        case .workers: [.drain, .server, .idle]
        case .queues: [.push, .drain, .server, .bytes, .idle]
        }
    }
}
