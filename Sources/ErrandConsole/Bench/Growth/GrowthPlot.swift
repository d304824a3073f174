import Foundation

/// The growth of the costs as a picture: a panel for each thing that was made larger, its axis logarithmic.
struct GrowthPlot {
    let points: [GrowthPoint]

    private static let width = 420.0
    private static let height = 300.0
    private static let margin = (left: 60.0, right: 20.0, top: 40.0, bottom: 50.0)
    private static let curves: [(title: String, colour: String, value: @Sendable (GrowthPoint) -> Double)] = [
        ("push", "#1f77b4", { $0.push }), ("drain", "#d62728", { $0.drain }),
        ("server's processor, drain", "#2ca02c", { $0.server }),
    ]

    /// The picture as SVG.
    var svg: String {
        let axes = GrowthAxis.allCases.filter { axis in points.contains { $0.axis == axis } }
        let rows = (axes.count + 1) / 2
        let (width, height) = (Self.width * 2, Self.height * Double(rows) + 30)
        var svg = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(width)) \(Int(height))" font-family="sans-serif" \
            font-size="12">
            <rect width="100%" height="100%" fill="white"/>

            """
        for (index, curve) in Self.curves.enumerated() {
            let x = Self.margin.left + Double(index) * 130
            svg += Self.line([(x, 16), (x + 20, 16)], curve.colour)
            svg += Self.text(curve.title, x + 26, 20, "start")
        }
        for (index, axis) in axes.enumerated() {
            let (x, y) = (Double(index % 2) * Self.width, 30 + Double(index / 2) * Self.height)
            svg += "<g transform=\"translate(\(x) \(y))\">\n" + panel(axis) + "</g>\n"
        }
        return svg + "</svg>\n"
    }

    private func panel(_ axis: GrowthAxis) -> String {
        let points = points.filter { $0.axis == axis }
        let most = points.flatMap { point in Self.curves.map { $0.value(point) } }.max() ?? 1
        let scale = Scale(values: points.map(\.value), most: most)
        var svg = Self.text("µs a job by \(axis.title)", Self.margin.left, Self.margin.top - 14, "start")
        for step in scale.steps {
            let y = scale.y(step)
            svg += Self.line([(Self.margin.left, y), (Self.width - Self.margin.right, y)], "#dddddd")
            svg += Self.text(Self.short(step), Self.margin.left - 6, y + 4, "end")
        }
        for point in points {
            svg += Self.text(Self.short(Double(point.value)), scale.x(point.value), scale.bottom + 18, "middle")
        }
        for curve in Self.curves {
            let places = points.map { (scale.x($0.value), scale.y(curve.value($0))) }
            svg += Self.line(places, curve.colour)
            for place in places {
                svg +=
                    "<circle cx=\"\(Self.place(place.0))\" cy=\"\(Self.place(place.1))\" r=\"3\" fill=\"\(curve.colour)\"/>\n"
            }
        }
        return svg
    }

    /// Where values are in a panel.
    private struct Scale {
        let steps: [Double]
        private let range: (least: Double, most: Double)
        private let top: Double

        init(values: [Int], most: Double) {
            let logarithms = values.map { log(Double(max(1, $0))) }
            range = (logarithms.min() ?? 0, logarithms.max() ?? 0)
            let power = pow(10, floor(log10(max(most, 1e-9))))
            let step = [0.2, 0.5, 1, 2].map { $0 * power }.first { most / $0 <= 6 } ?? power
            top = (most / step).rounded(.up) * step
            steps = Array(stride(from: 0, through: top + step / 2, by: step))
        }

        var bottom: Double { GrowthPlot.height - GrowthPlot.margin.bottom }

        func x(_ value: Int) -> Double {
            let room = GrowthPlot.width - GrowthPlot.margin.left - GrowthPlot.margin.right
            guard range.most > range.least else { return GrowthPlot.margin.left + room / 2 }
            let share = (log(Double(max(1, value))) - range.least) / (range.most - range.least)
            return GrowthPlot.margin.left + share * room
        }

        func y(_ value: Double) -> Double { bottom - value / top * (bottom - GrowthPlot.margin.top) }
    }

    // MARK: Pieces of SVG

    private static func line(_ places: [(Double, Double)], _ colour: String) -> String {
        let list = places.map { "\(place($0.0)),\(place($0.1))" }.joined(separator: " ")
        return "<polyline points=\"\(list)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"1.5\"/>\n"
    }

    private static func text(_ text: String, _ x: Double, _ y: Double, _ anchor: String) -> String {
        "<text x=\"\(place(x))\" y=\"\(place(y))\" text-anchor=\"\(anchor)\">\(text)</text>\n"
    }

    private static func place(_ number: Double) -> String { String(format: "%.1f", number) }

    /// 1000000 as 1M, 10240 as 10.2k.
    private static func short(_ number: Double) -> String {
        switch number {
        case 1e6...: String(format: "%gM", (number / 1e5).rounded() / 10)
        case 1e3...: String(format: "%gk", (number / 100).rounded() / 10)
        default: String(format: "%g", number)
        }
    }
}
