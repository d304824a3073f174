import ErrandCommandLine
import ErrandOperator

/// A report of the growth: a table for people, an object for programs.
struct GrowthReport {
    let points: [GrowthPoint]
    let facts: BenchFacts

    /// Prints the table: medians, with the range of several runs in brackets.
    func print() {
        for line in facts.lines { StandardOutput.write(line) }
        StandardOutput.write("")
        var columns: [TextColumn] = [
            .left(""), .right(""), .right("runs"),
        ]
        for figure in GrowthFigure.allCases { columns.append(.right(figure.title)) }
        var table = TextTable(columns)
        for point in points {
            var cells: [TextTable.Cell] = [.init(point.axis.title), .init("\(point.value)"), .init("\(point.runs)")]
            for figure in GrowthFigure.allCases { cells.append(.init(Self.text(of: figure, at: point))) }
            table.add(cells)
        }
        table.print()
    }

    private static func text(of figure: GrowthFigure, at point: GrowthPoint) -> String {
        guard let samples = point[figure], let median = samples.median else { return "" }
        guard samples.count > 1, let range = samples.range else { return figure.text(median) }
        return "\(figure.text(median)) (\(figure.text(range.lowerBound)) – \(figure.text(range.upperBound)))"
    }

    /// The report as one object. A figure that does not depend on the axis is null.
    var json: JSONOutput { ["growth": .list(points.map { Self.json(of: $0) }), "settings": facts.json] }

    private static func json(of point: GrowthPoint) -> JSONOutput {
        var members: [(key: String, value: JSONOutput)] = [
            (key: "axis", value: .text(point.axis.rawValue)), (key: "value", value: .count(point.value)),
            (key: "runs", value: .count(point.runs)),
        ]
        var spread: [(key: String, value: JSONOutput)] = []
        for figure in GrowthFigure.allCases {
            members.append((key: figure.rawValue, value: point[figure]?.median.map(figure.json) ?? .null))
            guard let range = point[figure]?.range else { continue }
            let ends = [figure.json(range.lowerBound), figure.json(range.upperBound)]
            spread.append((key: figure.rawValue, value: .list(ends)))
        }
        members.append((key: "spread", value: .object(spread)))
        return .object(members)
    }
}
