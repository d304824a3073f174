/// The outcomes of an operation's runs, and how long its jobs waited and ran.
public struct RunStatistics: Sendable, Equatable {
    /// The number of runs that finished.
    public var finished = 0
    /// The number of runs that failed.
    public var failed = 0
    /// The number of runs that timed out.
    public var timedOut = 0
    /// The number of runs that were cancelled.
    public var cancelled = 0
    /// The number of jobs that became dead because a run failed or timed out, which is counted there, too.
    public var dead = 0
    /// How long jobs were ready before these runs began.
    public var waiting = DurationHistogram()
    /// How long the runs took.
    public var running = DurationHistogram()

    /// Makes empty statistics.
    public init() {}

    /// The number of runs.
    public var runs: Int { finished.addedClamped(failed).addedClamped(timedOut).addedClamped(cancelled) }

    /// Adds other statistics.
    public mutating func merge(_ other: Self) {
        for (count, _) in Self.counters {
            self[keyPath: count] = self[keyPath: count].addedClamped(other[keyPath: count])
        }
        waiting.merge(other.waiting)
        running.merge(other.running)
    }

    /// Adds one run. Both times are in milliseconds.
    ///
    /// - Returns: Whether the outcome is counted. A run that was released or lost goes on elsewhere.
    @discardableResult
    mutating func add(_ ending: RunEnding, waited: Int, ran: Int) -> Bool {
        switch ending.status {
        case .succeeded: finished += 1
        case .cancelled: cancelled += 1
        case .failed, .retried:
            if ending.timedOut { timedOut += 1 } else { failed += 1 }
            if ending.status == .failed { dead += 1 }
        default: return false
        }
        waiting.add(milliseconds: waited)
        running.add(milliseconds: ran)
        return true
    }
}

/// The stored form: numbered cells that are not zero, such as `0=12 8=340 100=12 300=3 305=9`. A script can add two of
/// them without knowing what the cells mean.
extension RunStatistics {
    private static let counters: [(any WritableKeyPath<Self, Int> & Sendable, Int)] = [
        (\.finished, 0), (\.failed, 1), (\.timedOut, 2), (\.cancelled, 3), (\.dead, 4),
    ]
    private static let sums: [(any WritableKeyPath<Self, Int> & Sendable, Int)] = [
        (\.waiting.totalMilliseconds, 8), (\.running.totalMilliseconds, 9),
    ]
    private static let histograms: [(any WritableKeyPath<Self, DurationHistogram> & Sendable, Int)] = [
        (\.waiting, 100), (\.running, 300),
    ]

    /// The cells as text.
    package var cells: String {
        var cells = (Self.counters + Self.sums).compactMap { count, cell in
            self[keyPath: count] > 0 ? "\(cell)=\(self[keyPath: count])" : nil
        }
        for (histogram, first) in Self.histograms {
            for (bucket, count) in self[keyPath: histogram].counts.enumerated() where count > 0 {
                cells.append("\(first + bucket)=\(count)")
            }
        }
        return cells.joined(separator: " ")
    }

    /// Reads cells. Those that are unknown or invalid are left out, because any program can write to the broker.
    package init(cells: String) {
        self.init()
        for text in cells.split(separator: " ") {
            let parts = text.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let cell = Int(parts[0]), let count = Int(parts[1]), count > 0 else { continue }
            set(cell, to: count)
        }
    }

    private mutating func set(_ cell: Int, to count: Int) {
        for (counter, number) in Self.counters + Self.sums where number == cell { self[keyPath: counter] = count }
        for (histogram, first) in Self.histograms where cell >= first {
            self[keyPath: histogram].add(count, toBucket: cell - first)
        }
    }
}
