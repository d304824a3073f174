#if MetricsSupport
    import ErrandOperator
    package import Metrics
    import Synchronization

    /// Keeps the metrics of swift-metrics in a process, and formats them in Prometheus' text format.
    ///
    /// Names of counters get the suffix `_total`, and those of timers `_seconds`, as in Prometheus' conventions.
    package final class MetricsRegistry: MetricsFactory {
        private struct Family {
            let kind: InstrumentKind
            let label: String
            var instruments: [[String: String]: any Instrument] = [:]
        }

        private let families = Mutex<[String: Family]>([:])
        private let labels: [(String, String)]

        /// Makes a registry.
        ///
        /// - Parameter labels: The labels of every metric, which distinguish processes.
        package init(labels: [(String, String)] = []) { self.labels = labels }

        package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
            instrument(.counter, label, dimensions) { CountedNumber() }
        }

        package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
            instrument(.gauge, label, dimensions) { Level() }
        }

        package func makeRecorder(
            label: String,
            dimensions: [(String, String)],
            aggregate: Bool
        ) -> any RecorderHandler {
            aggregate
                ? instrument(.recorder, label, dimensions) { Distribution() }
                : instrument(.gauge, label, dimensions) { Level() }
        }

        package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
            instrument(.timer, label, dimensions) { Distribution() }
        }

        // Instruments stay: a counter that vanishes and returns would look like a new one.
        package func destroyCounter(_ handler: any CounterHandler) {}
        package func destroyMeter(_ handler: any MeterHandler) {}
        package func destroyRecorder(_ handler: any RecorderHandler) {}
        package func destroyTimer(_ handler: any TimerHandler) {}

        private func instrument<Made: Instrument>(
            _ kind: InstrumentKind,
            _ label: String,
            _ dimensions: [(String, String)],
            make: () -> Made
        ) -> Made {
            let name = Self.name(label) + kind.suffix
            let key = Dictionary(dimensions.map { (Self.name($0), $1) }) { $1 }
            return families.withLock { families in
                if let known = families[name]?.instruments[key] as? Made { return known }
                let made = make()
                // A name keeps its kind: a family has one type.
                if let family = families[name], family.kind != kind { return made }
                families[name, default: Family(kind: kind, label: label)].instruments[key] = made
                return made
            }
        }

        /// Returns a label in Prometheus' syntax.
        private static func name(_ label: String) -> String {
            let name = String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
            return name.first?.isNumber == false ? name : "_" + name
        }

        /// All current metrics.
        package var text: String {
            var text = PrometheusText()
            for (name, family) in families.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
                let samples = family.instruments.map { key, instrument in
                    let own = key.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
                    return (own.description, instrument.samples(labels + own))
                }
                let ordered = samples.sorted { $0.0 < $1.0 }.flatMap(\.1)
                text.family(name, family.kind.word, "swift-metrics: \(family.label)", ordered)
            }
            return text.text
        }
    }
#endif
