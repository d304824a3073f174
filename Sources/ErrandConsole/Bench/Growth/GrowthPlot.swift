import Foundation

/// A plot of the costs as the load grows: one panel for each axis, with a logarithmic scale. A thin bar shows the range
/// of several runs.
struct GrowthPlot {
    let points: [GrowthPoint]

    private static let width = 420.0
    private static let height = 300.0
    private static let margin = (left: 60.0, right: 20.0, top: 40.0, bottom: 50.0)

    private struct Curve {
        let figure: GrowthFigure
        let title: String
        let colour: String
    }

    private struct Panel {
        let axis: GrowthAxis
        let title: String
        let curves: [Curve]
    }

    private static let costs = [
        Curve(figure: .push, title: "push", colour: "#1f77b4"),
        Curve(figure: .drain, title: "drain", colour: "#d62728"),
        Curve(figure: .server, title: "server's processor, drain", colour: "#2ca02c"),
    ]
    private static let idling = [Curve(figure: .idle, title: "commands while idle", colour: "#9467bd")]

    private var panels: [Panel] {
        let axes = GrowthAxis.allCases.filter { axis in points.contains { $0.axis == axis } }
        let costs = axes.map { Panel(axis: $0, title: "µs a job by \($0.title)", curves: Self.costs) }
        let idling = axes.filter { $0.figures.contains(.idle) }.map {
            Panel(axis: $0, title: "commands a second while idle, by \($0.title)", curves: Self.idling)
        }
        return costs + idling
    }

    /// The plot as SVG.
    var svg: String {
        let panels = panels
        let rows = (panels.count + 1) / 2
        let (width, height) = (Self.width * 2, Self.height * Double(rows) + 30)
        var svg = SVG.head(width: Int(width), height: Int(height))
        for (index, curve) in (Self.costs + Self.idling).enumerated() {
            let x = Self.margin.left + Double(index) * 190
            svg += SVG.line([(x, 16), (x + 20, 16)], curve.colour)
            svg += SVG.text(curve.title, x + 26, 20, "start")
        }
        for (index, panel) in panels.enumerated() {
            let (x, y) = (Double(index % 2) * Self.width, 30 + Double(index / 2) * Self.height)
            svg += "<g transform=\"translate(\(x) \(y))\">\n" + drawing(of: panel) + "</g>\n"
        }
        return svg + "</svg>\n"
    }

    private func drawing(of panel: Panel) -> String {
        let points = points.filter { $0.axis == panel.axis }
        let highest = points.flatMap { point in panel.curves.compactMap { point[$0.figure]?.range?.upperBound } }.max()
        let scale = Scale(values: points.map(\.value), most: highest ?? 1)
        var svg = SVG.text(panel.title, Self.margin.left, Self.margin.top - 14, "start")
        for step in scale.steps {
            let y = scale.y(step)
            svg += SVG.line([(Self.margin.left, y), (Self.width - Self.margin.right, y)], "#dddddd")
            svg += SVG.text(SVG.short(step), Self.margin.left - 6, y + 4, "end")
        }
        for point in points {
            svg += SVG.text(SVG.short(Double(point.value)), scale.x(point.value), scale.bottom + 18, "middle")
        }
        for curve in panel.curves { svg += drawing(of: curve, points, scale) }
        return svg
    }

    private func drawing(of curve: Curve, _ points: [GrowthPoint], _ scale: Scale) -> String {
        var places: [(Double, Double)] = []
        var marks = ""
        for point in points {
            guard let samples = point[curve.figure], let median = samples.median, let range = samples.range else {
                continue
            }
            let (x, y) = (scale.x(point.value), scale.y(median))
            places.append((x, y))
            marks += SVG.line([(x, scale.y(range.lowerBound)), (x, scale.y(range.upperBound))], curve.colour)
            marks += SVG.circle(x, y, curve.colour)
        }
        return places.isEmpty ? "" : SVG.line(places, curve.colour) + marks
    }

    /// The positions of values in a panel.
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
}
