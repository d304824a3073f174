import Errand
import ErrandCommandLine
import ErrandOperator

/// The table of dead jobs by error.
struct ErrorListing {
    let groups: [ErrorGroup]
    let style: ListStyle

    /// Prints the table.
    func print() {
        if groups.isEmpty { return StandardError.write("no such jobs") }
        var table = TextTable([
            .right("JOBS"), .left("LAST"), .left("FIRST").optional.dropped(2),
            .left("OPERATIONS").cut(to: 10).dropped(3),
            .left("EXAMPLE").dropped(1), .left("ERROR").cut(to: 12),
        ])
        let (short, moments) = (ShortIDs(of: groups.map(\.example.record.id)), MomentText())
        for group in groups { table.add(row(of: group, short, moments)) }
        table.print(width: style.width)
    }

    private func row(of group: ErrorGroup, _ short: ShortIDs, _ moments: MomentText) -> [TextTable.Cell] {
        let id = group.example.record.id
        return [
            TextTable.Cell(group.count.grouped), TextTable.Cell(group.last.map { moments.cell($0, style) } ?? "-"),
            TextTable.Cell(group.first.map { moments.cell($0, style) } ?? "-"),
            TextTable.Cell(group.operationsByCount.joined(separator: ", "), atMost: style.mostCharacters),
            TextTable.Cell(style.isFull ? id : short.text(of: id), atMost: 64),
            TextTable.Cell(group.pattern, atMost: style.mostCharacters),
        ]
    }
}
