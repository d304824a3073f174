import Errand
import ErrandOperator
import Foundation
import Synchronization

/// The statistics of queues for the pages. Pages refresh every two seconds and may have many readers, so what was read
/// is shown for a while, and longer for longer periods.
final class StatisticsCache: Sendable {
    /// The statistics of one queue, or of all together.
    struct Value: Sendable {
        var series: StatisticsSeries
        /// A row for each operation, the most runs first.
        var operations: [OperationTimes] = []
        /// A row for each queue in which jobs ran.
        var queues: [OperationTimes] = []
    }

    private struct Key: Hashable {
        let queue: String?
        let period: StatisticsPeriod
    }

    private struct Entry {
        var value: Value?
        var until: ContinuousClock.Instant
        let reading: Task<Value, Never>
    }

    /// The largest numbers of queues whose samples, and whose runs, are read for all queues together.
    static let (mostQueues, mostWithRuns) = (1000, 50)
    private static let mostEntries = 100

    private let broker: any Broker
    private let entries = Mutex<[Key: Entry]>([:])

    init(broker: any Broker) { self.broker = broker }

    /// Returns the statistics of one queue.
    func value(of queue: String, _ period: StatisticsPeriod) async -> Value {
        await value(Key(queue: queue, period: period), [queue], withRuns: [queue])
    }

    /// Returns the statistics of all queues together, with the operations of those in which the most jobs have finished.
    func value(of queues: [QueueStatus], _ period: StatisticsPeriod) async -> Value {
        let busiest = queues.sorted { $0.totals["finished"] > $1.totals["finished"] }.prefix(Self.mostQueues).map(
            \.name
        )
        return await value(Key(queue: nil, period: period), busiest, withRuns: Set(busiest.prefix(Self.mostWithRuns)))
    }

    /// Returns the known value, and reads a new one if it is old. Only the first call waits.
    private func value(_ key: Key, _ queues: [String], withRuns: Set<String>) async -> Value {
        let (known, reading) = entries.withLock { entries -> (Value?, Task<Value, Never>) in
            let now = ContinuousClock.now
            if let entry = entries[key], entry.until > now { return (entry.value, entry.reading) }
            if entries.count >= Self.mostEntries { entries = entries.filter { $0.value.until > now } }
            let reading = Task { [weak self, broker] in
                let value = await Self.read(queues, withRuns, key.period, on: broker)
                self?.entries.withLock { $0[key]?.value = value }
                return value
            }
            let old = entries[key]?.value
            entries[key] = Entry(value: old, until: now + key.period.kept, reading: reading)
            return (old, reading)
        }
        if let known { return known }
        return await reading.value
    }

    /// Reads the statistics of queues. A queue that cannot be read is left out; the page says so elsewhere.
    private static func read(
        _ queues: [String],
        _ withRuns: Set<String>,
        _ period: StatisticsPeriod,
        on broker: any Broker
    ) async -> Value {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        var value = Value(series: StatisticsSeries([], of: period, now: now))
        let read = try? await queues.readingEach { queue throws(BrokerError) in
            try await broker.statistics(of: queue, period, now: now, withRuns: withRuns.contains(queue))
        }
        for (queue, statistics) in read?.values ?? [] {
            value.series.add(StatisticsSeries(statistics.samples, of: period, now: now))
            value.operations += OperationTimes.rows(of: queue, statistics)
            value.queues += [OperationTimes.total(of: queue, statistics)].compactMap(\.self)
        }
        value.operations.sort()
        value.queues.sort()
        return value
    }
}

extension StatisticsPeriod {
    /// How long statistics of the period are shown before they are read again.
    fileprivate var kept: Duration {
        switch self {
        case .quarter: .seconds(5)
        case .hour: .seconds(15)
        case .day, .week: .seconds(60)
        }
    }
}
