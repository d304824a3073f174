import Errand
import ErrandOperator
import Foundation
import Synchronization

/// A sampler that reads all queues every two seconds, for rates, and has the broker sample them once a minute, for charts.
final class Sampler: Sendable {
    /// The state of the queues at one time.
    struct Sample: Sendable {
        let at: ContinuousClock.Instant
        /// The queues by name; `nil` if the broker could not be read.
        let queues: [String: Point]?
    }

    /// The counters of a queue for rates.
    struct Point: Sendable {
        fileprivate let pushed: Int
        fileprivate let finished: Int
        fileprivate let failed: Int
        fileprivate let timedOut: Int

        init(_ queue: QueueStatus) {
            (pushed, finished) = (queue.totals["pushed"], queue.totals["finished"])
            (failed, timedOut) = (queue.totals["failed"], queue.totals["timed_out"])
        }

        /// The counters, for rates.
        var totals: QueueStatus.Totals {
            .init(counts: ["pushed": pushed, "finished": finished, "failed": failed, "timed_out": timedOut])
        }
    }

    private static let every = Duration.seconds(2)
    private static let kept = 10
    private static let everyRecorded = Duration.seconds(60)

    private let samples = Mutex<[Sample]>([])
    private let looking = Mutex<Task<Void, Never>?>(nil)

    init(broker: any Broker, queues: KnownQueues) {
        let task = Task.detached { [weak self] in
            var recorded: ContinuousClock.Instant?
            while !Task.isCancelled {
                guard let names = await self?.look(at: queues, of: broker) else { return }
                if recorded.map({ .now - $0 >= Self.everyRecorded }) ?? true {
                    recorded = .now
                    await Self.record(names, on: broker)
                }
                try? await Task.sleep(for: Self.every)
            }
        }
        looking.withLock { $0 = task }
    }

    deinit { looking.withLock { $0?.cancel() } }

    /// Asks the broker to sample the counts of queues. Without permission to write, only the workers do that.
    private static func record(_ queues: [String], on broker: any Broker) async {
        _ = try? await queues.readingEach { queue throws(BrokerError) in try await broker.record([:], on: queue) }
    }

    /// Takes a sample, and returns the queues. It is a gap if the broker cannot be read.
    private func look(at queues: KnownQueues, of broker: any Broker) async -> [String] {
        var overview: Overview?
        if let names = try? await queues.names() { overview = try? await Overview(of: names, on: broker) }
        let points = overview.map { overview in Dictionary(overview.queues.map { ($0.name, Point($0)) }) { $1 } }
        note(Sample(at: .now, queues: points))
        return points.map { Array($0.keys) } ?? []
    }

    private func note(_ sample: Sample) {
        samples.withLock { samples in
            samples.append(sample)
            if samples.count > Self.kept { samples.removeFirst(samples.count - Self.kept) }
        }
    }

    /// Returns the rates of a queue over about the last ten seconds.
    func rates(of queue: String) -> Rates {
        // A new queue is missing from older samples.
        let recent = samples.withLock { $0 }.suffix(6).filter { $0.queues?[queue] != nil }
        guard let first = recent.first, let last = recent.last, let old = first.queues?[queue],
            let new = last.queues?[queue]
        else { return Rates() }
        return Rates(from: old.totals, to: new.totals, in: last.at - first.at)
    }
}
