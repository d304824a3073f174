#if MetricsSupport
    import ErrandOperator
    import Metrics
    import Synchronization

    /// A counter or a measurement.
    protocol Instrument: AnyObject, Sendable {
        /// Returns the current samples with these labels.
        func samples(_ labels: [(String, String)]) -> [PrometheusText.Sample]
    }

    /// The Prometheus type of an instrument.
    enum InstrumentKind {
        case counter, gauge, recorder, timer

        var word: String {
            switch self {
            case .counter: "counter"
            case .gauge: "gauge"
            case .recorder, .timer: "histogram"
            }
        }

        var suffix: String {
            switch self {
            case .counter: "_total"
            case .timer: "_seconds"
            case .gauge, .recorder: ""
            }
        }
    }

    /// A number that only increases.
    final class CountedNumber: CounterHandler, Instrument {
        private let count = Atomic<Int64>(0)

        func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }
        func reset() { count.store(0, ordering: .relaxed) }

        func samples(_ labels: [(String, String)]) -> [PrometheusText.Sample] {
            [.init(labels, Double(count.load(ordering: .relaxed)))]
        }
    }

    /// A number that increases and decreases.
    final class Level: MeterHandler, RecorderHandler, Instrument {
        private let level = Mutex(0.0)

        func set(_ value: Int64) { set(Double(value)) }
        func record(_ value: Int64) { set(Double(value)) }
        func record(_ value: Double) { set(value) }
        func set(_ value: Double) { level.withLock { $0 = value } }
        func increment(by amount: Double) { level.withLock { $0 += amount } }
        func decrement(by amount: Double) { level.withLock { $0 -= amount } }

        func samples(_ labels: [(String, String)]) -> [PrometheusText.Sample] {
            [.init(labels, level.withLock { $0 })]
        }
    }

    /// A histogram of values; durations are in seconds.
    final class Distribution: TimerHandler, RecorderHandler, Instrument {
        private struct State {
            var counts = [Int64](repeating: 0, count: Distribution.limits.count + 1)
            var sum = 0.0
        }

        /// From jobs without a measurable duration to jobs of an hour.
        private static let limits = [
            0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600,
        ]
        private let state = Mutex(State())

        func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
        func record(_ value: Int64) { record(Double(value)) }
        func record(_ value: Double) {
            let bucket = Self.limits.firstIndex { value <= $0 } ?? Self.limits.count
            state.withLock { state in
                state.counts[bucket] += 1
                state.sum += value
            }
        }

        func samples(_ labels: [(String, String)]) -> [PrometheusText.Sample] {
            let state = state.withLock { $0 }
            var (total, samples) = (0.0, [PrometheusText.Sample]())
            for (limit, count) in zip(Self.limits.map(PrometheusText.number) + ["+Inf"], state.counts) {
                total += Double(count)
                samples.append(.init(labels + [("le", limit)], total, suffix: "_bucket"))
            }
            return samples + [.init(labels, state.sum, suffix: "_sum"), .init(labels, total, suffix: "_count")]
        }
    }
#endif
