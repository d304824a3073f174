/// A writer of Prometheus' text format, version 0.0.4.
package struct PrometheusText {
    /// One value of a metric.
    package struct Sample {
        /// The suffix of the metric's name: `_count`, `_sum`, `_bucket`, or none.
        package var suffix = ""
        /// The names and values of its labels.
        package var labels: [(String, String)]
        /// The value.
        package var value: Double

        /// Makes a sample.
        package init(_ labels: [(String, String)], _ value: Double, suffix: String = "") {
            self.suffix = suffix
            self.labels = labels
            self.value = value
        }
    }

    /// The text written so far.
    package private(set) var text = ""

    /// Makes an empty text.
    package init() {}

    /// Writes a metric with all its samples.
    package mutating func family(_ name: String, _ kind: String, _ help: String, _ samples: [Sample]) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
        for sample in samples {
            let labels = sample.labels.map { "\($0)=\"\(Self.escape($1))\"" }.joined(separator: ",")
            text += "\(name)\(sample.suffix)\(labels.isEmpty ? "" : "{\(labels)}") \(Self.number(sample.value))\n"
        }
    }

    /// Formats a number as the format requires: whole numbers without a fraction.
    package static func number(_ value: Double) -> String {
        value.rounded() == value && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    private static func escape(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
