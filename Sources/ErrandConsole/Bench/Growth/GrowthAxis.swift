import ArgumentParser

/// The quantity that grows while all others stay constant.
enum GrowthAxis: String, CaseIterable, ExpressibleByArgument, Sendable {
    case waiting, workers, queues, bodies

    /// The title of the plot's axis.
    var title: String {
        switch self {
        case .waiting: "jobs waiting"
        case .workers: "worker processes"
        case .queues: "queues of one worker"
        case .bodies: "bytes a body"
        }
    }

    /// Returns the measured values.
    ///
    /// - Parameter most: The largest number of waiting jobs.
    func values(most: Int) -> [Int] {
        switch self {
        case .waiting: [10_000, 100_000, 1_000_000, 5_000_000].filter { $0 <= most }
        case .workers: [1, 2, 4, 8, 16]
        case .queues: [1, 10, 100]
        case .bodies: [100, 1024, 10_240, 102_400]
        }
    }

    /// The figures that may depend on the axis. Workers do not push, and waiting jobs or their bodies do not affect
    /// idle workers.
    var figures: [GrowthFigure] {
        switch self {
        case .waiting, .bodies: [.push, .drain, .server, .bytes]
        case .workers: [.drain, .server, .idle]
        case .queues: [.push, .drain, .server, .bytes, .idle]
        }
    }
}
