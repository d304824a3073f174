import Errand
import ErrandOperator

/// The values for the template of dead jobs by error.
struct ErrorGroupViews {
    private static let shown = 10
    private static let operationsShown = 3

    let wanted: JobsRequest
    let base: String
    let moments: MomentView

    /// Returns the first groups, and the others for the part that is closed at first.
    func values(_ groups: [ErrorGroup]) -> (first: [[String: Any]], others: [[String: Any]]) {
        (groups.prefix(Self.shown).map(row), groups.dropFirst(Self.shown).prefix(100).map(row))
    }

    private func row(_ group: ErrorGroup) -> [String: Any] {
        let fields = wanted.fields(ofGroup: group.pattern)
        let operations = group.operationsByCount
        let more = operations.count - Self.operationsShown
        return [
            "pattern": group.pattern, "count": group.count.grouped,
            "place": "\(base)/jobs?\(fields.query)", "hidden": fields.values,
            "operations": operations.prefix(Self.operationsShown).joined(separator: ", ")
                + (more > 0 ? " and \(more.grouped) more" : ""),
            "firsts": group.first.map { [moments.relative($0, "first died")] } ?? [],
            "lasts": group.last.map { [moments.relative($0, "last died")] } ?? [],
            "queue": group.example.queue, "id": group.example.record.id,
            "shortID": JobRow.short(id: group.example.record.id),
        ]
    }
}
