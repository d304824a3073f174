/// The display form of time spans, with the same units everywhere: `250 ms`, `4 s`, `1 min 30 s`, `2 h 5 min`, `3 d`.
/// ``DurationText`` has the form for input.
package enum TimeSpanText {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("min", 60_000),
    ]

    /// Formats a span to the millisecond, for settings and measured runs.
    package static func exact(_ milliseconds: Int64) -> String { parts(of: milliseconds).joined(separator: " ") }

    /// Formats a span to the millisecond; a fraction of one is rounded up.
    package static func exact(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let fraction = (attoseconds + (attoseconds > 0 ? 999_999_999_999_999 : 0)) / 1_000_000_000_000_000
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        return exact(isTooLong ? .max : whole.addingReportingOverflow(fraction).partialValue)
    }

    /// Formats the two largest units of a span, and seconds with one digit: precise enough for ages, which constantly
    /// change.
    package static func rounded(_ milliseconds: Int64) -> String {
        let grain: Int64 =
            switch milliseconds {
            case ..<1000: 1
            case ..<60_000: 100
            case ..<3_600_000: 1000
            case ..<86_400_000: 60_000
            default: 3_600_000
            }
        return exact(milliseconds / grain * grain)
    }

    /// Formats the two largest units of a span.
    package static func rounded(_ milliseconds: Int) -> String { rounded(Int64(milliseconds)) }

    /// Formats the largest unit of a span, for columns of ages: `2 min`; less than a second as `0 s`.
    package static func brief(_ milliseconds: Int64) -> String {
        let unit = units.first { milliseconds >= $0.milliseconds } ?? (name: "s", milliseconds: 1000)
        return "\(max(0, milliseconds) / unit.milliseconds) \(unit.name)"
    }

    private static func parts(of milliseconds: Int64) -> [String] {
        var (parts, rest) = ([String](), milliseconds)
        for unit in units where rest >= unit.milliseconds {
            parts.append("\(rest / unit.milliseconds) \(unit.name)")
            rest %= unit.milliseconds
        }
        if rest != 0 || parts.isEmpty { parts.append(parts.isEmpty && rest < 1000 ? "\(rest) ms" : seconds(rest)) }
        return parts
    }

    /// Formats seconds with the necessary digits after the point: `4 s`, `12.5 s`, `1.001 s`.
    private static func seconds(_ milliseconds: Int64) -> String {
        var digits = String(String(1000 + milliseconds % 1000).dropFirst())
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(milliseconds / 1000)\(digits.isEmpty ? "" : ".\(digits)") s"
    }
}
