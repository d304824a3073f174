import ErrandOperator
import Foundation

/// A small line chart as SVG: at most two lines over time.
struct Chart {
    struct Line {
        let name: String
        /// A value for each sample, in order; `nil` where there is none.
        let values: [Double?]
    }

    let title: String
    let unit: String
    let lines: [Line]
    /// How long ago the first sample was taken.
    let span: Duration

    private static let (width, height) = (300.0, 80.0)

    /// The figure, with a caption that says the latest values for those who do not see lines.
    var svg: String {
        let top = lines.flatMap(\.values).compactMap { $0 }.max().map { max($0, 1) } ?? 1
        let classes = ["first", "second"]
        var legend = ""
        var paths = ""
        for (line, style) in zip(lines, classes) {
            let latest = line.values.last ?? nil
            legend +=
                "<span class=\"\(style)\">\(EscapedHTML.escape(line.name)) \((unit.isEmpty ? Int(latest ?? 0).grouped : (latest ?? 0).rateText))\(unit)</span>"
            paths += "<path class=\"\(style)\" d=\"\(path(line.values, top))\"/>"
        }
        let name = EscapedHTML.escape(title)
        return """
            <figure class="chart"><figcaption><span>\(name)</span><span class="legend">\(legend)</span></figcaption>
            <svg viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" preserveAspectRatio="none" role="img" aria-label="\(name)">
            <path class="grid" d="M0 79.5H300M0 40H300M0 0.5H300"/>\(paths)</svg>
            <div class="scale"><span>\(ago)</span><span>up to \(unit.isEmpty ? Int(top).grouped : top.rateText)\(unit)</span><span>now</span></div></figure>
            """
    }

    private var ago: String {
        let seconds = Int(span / .seconds(1))
        return seconds < 120 ? "\(seconds) s ago" : "\(seconds / 60) min ago"
    }

    private func path(_ values: [Double?], _ top: Double) -> String {
        var (path, isDrawing) = ("", false)
        let step = Self.width / Double(max(values.count - 1, 1))
        for (index, value) in values.enumerated() {
            guard let value, value.isFinite else {
                isDrawing = false
                continue
            }
            let x = Int((Double(index) * step * 10).rounded())
            let y = Int(((Self.height - 1 - value / top * (Self.height - 2)) * 10).rounded())
            path += "\(isDrawing ? "L" : "M")\(x / 10).\(x % 10) \(y / 10).\(abs(y % 10))"
            isDrawing = true
        }
        return path
    }
}
