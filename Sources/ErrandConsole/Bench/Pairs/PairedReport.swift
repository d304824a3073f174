import ErrandCommandLine
import ErrandOperator
import Foundation

/// The report of a comparison with another build: a table for people, an object for programs.
struct PairedReport {
    let figures: PairedFigures
    let other: String
    let pairs: Int

    /// Prints the table.
    func print() {
        StandardOutput.write("pairs: \(pairs), with \(other)")
        StandardOutput.write("")
        var table = TextTable([
            .left(""), .right("this build"), .right("the other"), .right("ratio"), .right("95 % interval"),
        ])
        for row in BenchRow.all {
            guard let figure = figures[row.kind], let ours = figure.ours.median, let theirs = figure.theirs.median,
                let ratio = figure.ratios.median
            else { continue }
            table.add([
                .init(row.title), .init(row.unit.text(ours)), .init(row.unit.text(theirs)),
                .init(String(format: "%.3f", ratio)), .init(Self.text(of: figure.ratios.medianInterval)),
            ])
        }
        table.print()
    }

    private static func text(of interval: ClosedRange<Double>?) -> String {
        guard let interval else { return "needs six pairs" }
        return String(format: "%.3f to %.3f", interval.lowerBound, interval.upperBound)
    }

    /// The report as one object.
    var json: JSONOutput {
        let all = BenchFigures.Kind.allCases.compactMap { kind in
            figures[kind].map { (key: kind.rawValue, value: Self.json(of: $0)) }
        }
        return ["pairs": .count(pairs), "against": .text(other), "figures": .object(all)]
    }

    private static func json(of figure: PairedFigures.Figure) -> JSONOutput {
        let interval = figure.ratios.medianInterval
        return [
            "ours": number(figure.ours.median), "theirs": number(figure.theirs.median),
            "ratio": number(figure.ratios.median),
            "interval": interval.map { .list([number($0.lowerBound), number($0.upperBound)]) } ?? .null,
        ]
    }

    private static func number(_ value: Double?) -> JSONOutput {
        value.map { .written(Array(String(format: "%.5g", $0).utf8)) } ?? .null
    }
}
