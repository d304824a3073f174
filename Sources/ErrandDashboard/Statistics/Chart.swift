import ErrandOperator
import Foundation

/// A line chart as SVG, with axes, units and a legend with the present values. The script of the pages shows the values
/// under the pointer.
struct Chart {
    struct Line {
        let name: String
        /// The class that gives the line its colour, which is the same for the same quantity everywhere.
        let style: String
        /// The values step by step, oldest first; `nil` if one is not known, which breaks the line.
        let values: [Double?]
        /// The present value for the legend, which other parts of the page show, too.
        let now: Double?
    }

    let title: String
    /// The unit of the values, such as `/s`; empty for numbers of jobs.
    let unit: String
    let lines: [Line]
    /// The beginning of the first step, in milliseconds since 1970 UTC.
    let from: Int64
    /// The length of a step in milliseconds.
    let step: Int64

    private static let (width, height) = (600.0, 120.0)

    private var steps: Int { lines.map(\.values.count).max() ?? 0 }

    /// The figure. Its caption has the present values for users who cannot see the lines.
    var svg: String {
        // The middle of an axis of jobs must be a whole number.
        let least = unit.isEmpty ? 2.0 : 1
        let top = max(least, Self.ceiling(of: lines.flatMap(\.values).compactMap(\.self).max() ?? 0))
        let name = EscapedHTML.escape(title)
        let legend = lines.map { "<span class=\"\($0.style)\">\(EscapedHTML.escape($0.name)) \(text($0.now))</span>" }
        let paths = lines.map { "<path class=\"\($0.style)\" d=\"\(path($0.values, top))\"/>" }
        let known = lines.contains { $0.values.dropLast().contains { $0 != nil } }
        return """
            <figure class="chart"><figcaption><span>\(name)</span><span class="legend">\(legend.joined())</span></figcaption>
            <div class="plot"><div class="axis"><span>\(text(top))</span><span>\(text(top / 2))</span><span>0</span></div>
            <svg viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" preserveAspectRatio="none" role="img" aria-label="\(name)" data-from="\(from)" data-step="\(step)" data-unit="\(unit)" data-lines="\(data)">
            <path class="grid" d="M0 119.5H600M0 60H600M0 0.5H600"/>\(paths.joined())</svg></div>
            <div class="scale">\(times)</div><p class="reading" data-keep>\(known ? "" : "Nothing is known of this period yet.")</p></figure>
            """
    }

    /// The labels of the time axis: the beginning, the middle and now.
    private var times: String {
        let all = Int64(steps).multipliedReportingOverflow(by: step).partialValue
        return [all, all / 2].map { "<span>\(ago($0))</span>" }.joined() + "<span>now</span>"
    }

    private func ago(_ milliseconds: Int64) -> String {
        let minutes = milliseconds / 60_000
        if minutes % 1440 == 0, minutes > 1440 { return "\(minutes / 1440) d ago" }
        if minutes == 5040 { return "3.5 d ago" }
        return minutes < 120 ? "\(minutes) min ago" : "\(minutes / 60) h ago"
    }

    /// The names and values for the script, which shows those under the pointer.
    private var data: String {
        let lines = lines.map { line in
            let values = line.values.map { $0.map(Self.short) ?? "" }
            return "\(EscapedHTML.escape(line.name))=\(values.joined(separator: ","))"
        }
        return lines.joined(separator: ";")
    }

    private static func short(_ value: Double) -> String {
        guard value.isFinite else { return "" }
        return value < 100 ? tenths(value) : "\(Int(min(value, 1e15).rounded()))"
    }

    private func text(_ value: Double?) -> String {
        guard let value, value.isFinite else { return "–" }
        if unit.isEmpty { return Int(min(max(value, 0), 1e15)).grouped }
        return value.rateText + unit
    }

    /// Returns the smallest of 1, 2, 5, 10, 20, … that is not below the value.
    static func ceiling(of value: Double) -> Double {
        guard value.isFinite, value > 1 else { return 1 }
        let power = pow(10, log10(value).rounded(.down))
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= value } ?? value
    }

    private func path(_ values: [Double?], _ top: Double) -> String {
        var (path, isDrawing) = ("", false)
        for (index, value) in values.enumerated() {
            guard let value, value.isFinite else {
                isDrawing = false
                continue
            }
            let x = Self.tenths(values.count > 1 ? Double(index) / Double(values.count - 1) * Self.width : Self.width)
            let y = Self.tenths(Self.height - 1 - min(max(value / top, 0), 1) * (Self.height - 2))
            // A point without neighbours is drawn as a dot.
            path += isDrawing ? "L\(x) \(y)" : "M\(x) \(y)h0"
            isDrawing = true
        }
        return path
    }

    private static func tenths(_ length: Double) -> String {
        let tenths = Int((length * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
