import Errand
import Yams

/// Parses the schedules of a catalogue.
extension CatalogueReader {
    private static let scheduleKeys =
        ["cron", "time_zone", "every", "operation", "arguments", "name"] + JobValues.keys
        + ["catch_up", "catch_up_limit", "overlap", "revision"]

    func schedules(
        _ list: CatalogueNode?,
        _ operations: [CatalogueOperation]
    ) throws(CatalogueError) -> [CatalogueSchedule] {
        guard let list, !list.isNull else { return [] }
        var schedules: [CatalogueSchedule] = []
        for (name, value) in try list.entries() {
            let place = CatalogueNode(node: value.node, source: source, schedule: name)
            schedules.append(try schedule(name, at: place, operations.map(\.name)))
        }
        return schedules
    }

    private func schedule(
        _ name: String,
        at place: CatalogueNode,
        _ operations: [String]
    ) throws(CatalogueError) -> CatalogueSchedule {
        guard QueueName.isValid(name) else {
            throw place.error("the schedule's name is not allowed: \(CatalogueNode.nameRule)")
        }
        let entries = try place.entries(known: Self.scheduleKeys)
        guard let operation = entries["operation"] else { throw place.error("has no key \"operation\"") }
        let known = try operation.text()
        guard operations.contains(known) else {
            let hint = Spelling.nearest(to: known, among: operations).map { "; did you mean \"\($0)\"?" } ?? ""
            throw operation.error("\"\(known)\" is not an operation of this catalogue\(hint)")
        }
        let schedule = CatalogueSchedule(
            name: name,
            operation: known,
            arguments: try entries["arguments"]?.json() ?? .emptyObject,
            cron: try entries["cron"]?.text(),
            timeZone: try entries["time_zone"]?.text(),
            every: try entries["every"]?.duration(),
            uniqueName: try entries["name"]?.text(),
            values: try JobValues(entries),
            catchUp: try entries["catch_up"]?.text("none, latest or all"),
            catchUpLimit: try entries["catch_up_limit"]?.number(in: 1...1_000),
            overlap: try entries["overlap"]?.word("an overlap policy"),
            revision: try entries["revision"]?.number(in: 0...1_000_000_000_000),
            place: place.error(""),
            lines: entries.compactMapValues { $0.node.mark?.line }
        )
        try checkTiming(of: schedule)
        return schedule
    }

    private func checkTiming(of schedule: CatalogueSchedule) throws(CatalogueError) {
        switch (schedule.cron, schedule.every) {
        case (nil, nil): throw schedule.error(nil, "says neither \"cron\" nor \"every\"; one of them is needed")
        case (_?, _?): throw schedule.error("every", "says both \"cron\" and \"every\"; only one of them is allowed")
        case (nil, _?) where schedule.timeZone != nil: throw schedule.error("time_zone", "goes with \"cron\" only")
        default: break
        }
    }
}
