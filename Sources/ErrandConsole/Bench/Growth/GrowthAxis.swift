/// What is made larger, while everything else stays as it is.
enum GrowthAxis: String, CaseIterable, Sendable {
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
}

/// What a job cost where so much of something was there.
struct GrowthPoint: Sendable, Equatable {
    let axis: GrowthAxis
    let value: Int
    /// Microseconds a job of a bulk push.
    var push: Double
    /// Microseconds a job of a drain.
    var drain: Double
    /// Microseconds of the server's processor a job of a drain.
    var server: Double
    /// Bytes of the server's memory a waiting job.
    var bytes: Double
}
