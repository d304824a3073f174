import ErrandOperator
import Foundation

/// A small line chart as SVG with at most two lines over time.
struct Chart {
    struct Point {
        let at: ContinuousClock.Instant
        /// The value; `nil` if it is not known, which breaks the line.
        let value: Double?
    }

    struct Line {
        let name: String
        /// The points in chronological order.
        let points: [Point]
    }

    let title: String
    let unit: String
    let lines: [Line]
    /// The time at the left edge.
    let from: ContinuousClock.Instant
    /// The time at the right edge.
    let to: ContinuousClock.Instant

    private static let (width, height) = (300.0, 80.0)

    /// The figure, with a caption that has the latest values for users who cannot see the lines.
    var svg: String {
        let top = lines.flatMap(\.points).compactMap(\.value).max().map { max($0, 1) } ?? 1
        let classes = ["first", "second"]
        var legend = ""
        var paths = ""
        for (line, style) in zip(lines, classes) {
            let latest = line.points.last?.value
            legend += "<span class=\"\(style)\">\(EscapedHTML.escape(line.name)) \(text(latest))</span>"
            paths += "<path class=\"\(style)\" d=\"\(path(line.points, top))\"/>"
        }
        let name = EscapedHTML.escape(title)
        return """
            <figure class="chart"><figcaption><span>\(name)</span><span class="legend">\(legend)</span></figcaption>
            <svg viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" preserveAspectRatio="none" role="img" aria-label="\(name)">
            <path class="grid" d="M0 79.5H300M0 40H300M0 0.5H300"/>\(paths)</svg>
            <div class="scale"><span>\(ago)</span><span>up to \(text(top))</span><span>now</span></div></figure>
            """
    }

    private var ago: String {
        let seconds = Int((to - from) / .seconds(1))
        return seconds < 120 ? "\(seconds) s ago" : "\(seconds / 60) min ago"
    }

    private func text(_ value: Double?) -> String {
        guard let value else { return "–" }
        return (unit.isEmpty ? Int(min(max(value, 0), 1e15)).grouped : value.rateText) + unit
    }

    private func path(_ points: [Point], _ top: Double) -> String {
        var (path, isDrawing) = ("", false)
        for point in points {
            guard let value = point.value, value.isFinite else {
                isDrawing = false
                continue
            }
            let x = Self.tenths(share(of: point.at) * Self.width)
            let y = Self.tenths(Self.height - 1 - min(max(value / top, 0), 1) * (Self.height - 2))
            // A point without neighbours is drawn as a dot.
            path += isDrawing ? "L\(x) \(y)" : "M\(x) \(y)h0"
            isDrawing = true
        }
        return path
    }

    /// Returns the position of a time between the left edge (0) and the right one (1).
    private func share(of time: ContinuousClock.Instant) -> Double {
        to > from ? min(max((time - from) / (to - from), 0), 1) : 1
    }

    private static func tenths(_ length: Double) -> String {
        let tenths = Int((length * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
