import ErrandCommandLine
import ErrandOperator
import Foundation

/// The growth of the costs as a table for people and as one object for programs.
struct GrowthReport {
    let points: [GrowthPoint]
    let facts: BenchFacts

    /// Writes the table.
    func print() {
        for line in facts.lines { StandardOutput.write(line) }
        StandardOutput.write("")
        var table = TextTable([
            ("", .left), ("", .right), ("push", .right), ("drain", .right), ("server, drain", .right),
            ("memory a waiting job", .right),
        ])
        for point in points {
            table.add([
                .init(point.axis.title), .init("\(point.value)"), .init(Self.time(point.push)),
                .init(Self.time(point.drain)), .init(Self.time(point.server)),
                .init(String(format: "%.0f B", point.bytes)),
            ])
        }
        table.print()
    }

    private static func time(_ microseconds: Double) -> String { String(format: "%.2f µs", microseconds) }

    private static func exact(_ number: Double) -> JSONOutput { .written(Array(String(format: "%.3f", number).utf8)) }

    /// One object.
    var json: JSONOutput {
        let points = points.map { point -> JSONOutput in
            [
                "axis": .text(point.axis.rawValue), "value": .count(point.value), "push_us": Self.exact(point.push),
                "drain_us": Self.exact(point.drain), "server_us": Self.exact(point.server),
                "bytes_per_waiting_job": .number(Int64(point.bytes.rounded())),
            ]
        }
        return ["growth": .list(points), "settings": facts.json]
    }
}
