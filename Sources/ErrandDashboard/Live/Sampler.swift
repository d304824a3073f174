import Errand
import ErrandOperator
import Foundation
import Synchronization

/// A sampler that reads all queues every two seconds and keeps half an hour of samples, for charts and rates.
final class Sampler: Sendable {
    /// The state of the queues at one time.
    struct Sample: Sendable {
        let at: ContinuousClock.Instant
        /// The queues by name; `nil` if the broker could not be read.
        let queues: [String: Point]?
    }

    /// The figures of a queue for charts and rates only, so that half an hour of a thousand queues fits into little
    /// memory.
    struct Point: Sendable {
        let ready: Int
        let later: Int
        let oldestReadyMilliseconds: Int
        fileprivate let pushed: Int
        fileprivate let finished: Int
        fileprivate let failed: Int
        fileprivate let timedOut: Int

        init(_ queue: QueueStatus) {
            ready = queue.ready
            later = queue.scheduled.addingReportingOverflow(queue.retrying).partialValue
            oldestReadyMilliseconds = queue.oldestReadyMilliseconds
            (pushed, finished) = (queue.totals["pushed"], queue.totals["finished"])
            (failed, timedOut) = (queue.totals["failed"], queue.totals["timed_out"])
        }

        /// The counters, for rates.
        var totals: QueueStatus.Totals {
            .init(counts: ["pushed": pushed, "finished": finished, "failed": failed, "timed_out": timedOut])
        }
    }

    private static let every = Duration.seconds(2)
    private static let kept = 900

    private let samples = Mutex<[Sample]>([])
    private let looking = Mutex<Task<Void, Never>?>(nil)

    init(broker: any Broker, queues: KnownQueues) {
        let task = Task.detached { [weak self] in
            while !Task.isCancelled {
                guard await self?.look(at: queues, of: broker) != nil else { return }
                try? await Task.sleep(for: Self.every)
            }
        }
        looking.withLock { $0 = task }
    }

    deinit { looking.withLock { $0?.cancel() } }

    /// Takes a sample. It is a gap if the broker cannot be read.
    private func look(at queues: KnownQueues, of broker: any Broker) async {
        var overview: Overview?
        if let names = try? await queues.names() { overview = try? await Overview(of: names, on: broker) }
        let points = overview.map { overview in Dictionary(overview.queues.map { ($0.name, Point($0)) }) { $1 } }
        note(Sample(at: .now, queues: points))
    }

    private func note(_ sample: Sample) {
        samples.withLock { samples in
            samples.append(sample)
            if samples.count > Self.kept { samples.removeFirst(samples.count - Self.kept) }
        }
    }

    /// The kept samples, oldest first.
    var history: [Sample] { samples.withLock { $0 } }

    /// Returns the rates of a queue over about the last ten seconds.
    func rates(of queue: String) -> Rates {
        // A new queue is missing from older samples.
        let recent = history.suffix(6).filter { $0.queues?[queue] != nil }
        guard let first = recent.first, let last = recent.last, let old = first.queues?[queue],
            let new = last.queues?[queue]
        else { return Rates() }
        return Rates(from: old.totals, to: new.totals, in: last.at - first.at)
    }
}
