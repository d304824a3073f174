import Foundation
import Yams

/// Parses the schedules of a catalogue.
extension CatalogueReader {
    private static let scheduleKeys = [
        "cron", "time_zone", "every", "operation", "arguments", "queue", "name", "unique", "unique_until", "timeout",
        "retries", "backoff", "priority",
        "catch_up", "catch_up_limit", "overlap", "revision",
    ]

    func schedules(
        _ list: CatalogueNode?,
        _ operations: [CatalogueOperation]
    ) throws(CatalogueError) -> [CatalogueSchedule] {
        guard let list, !list.isNull else { return [] }
        var schedules: [CatalogueSchedule] = []
        for (name, value) in try CatalogueNode(node: list.node, source: source).entries() {
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
        guard NameRule.allows(name) else { throw place.error("the schedule's name is not allowed: \(NameRule.text)") }
        let entries = try place.entries(known: Self.scheduleKeys)
        guard let operation = entries["operation"] else { throw place.error("has no key \"operation\"") }
        let known = try operation.text()
        guard operations.contains(known) else {
            let hint = Spelling.nearest(to: known, among: operations).map { "; did you mean \"\($0)\"?" } ?? ""
            throw operation.error("\"\(known)\" is not an operation of this catalogue\(hint)")
        }
        let lines = entries.compactMapValues { $0.node.mark?.line }
        var schedule = CatalogueSchedule(name: name, operation: known, place: place.error(""), lines: lines)
        try readTiming(entries, into: &schedule)
        try readJob(entries, into: &schedule)
        return schedule
    }

    private func readTiming(
        _ entries: [String: CatalogueNode],
        into schedule: inout CatalogueSchedule
    ) throws(CatalogueError) {
        schedule.cron = try entries["cron"]?.text()
        schedule.timeZone = try entries["time_zone"]?.text()
        schedule.every = try entries["every"].map(duration)
        switch (schedule.cron, schedule.every) {
        case (nil, nil): throw schedule.error(nil, "says neither \"cron\" nor \"every\"; one of them is needed")
        case (_?, _?): throw schedule.error("every", "says both \"cron\" and \"every\"; only one of them is allowed")
        case (nil, _?) where schedule.timeZone != nil: throw schedule.error("time_zone", "goes with \"cron\" only")
        default: break
        }
        schedule.catchUp = try entries["catch_up"]?.text()
        schedule.catchUpLimit = try entries["catch_up_limit"].map { value throws(CatalogueError) in
            try value.number(in: 1...1_000)
        }
        schedule.overlap = try entries["overlap"]?.text()
        schedule.revision = try entries["revision"].map { value throws(CatalogueError) in
            try value.number(in: 0...1_000_000_000_000)
        }
    }

    private func readJob(
        _ entries: [String: CatalogueNode],
        into schedule: inout CatalogueSchedule
    ) throws(CatalogueError) {
        if let arguments = entries["arguments"] { schedule.arguments = try arguments.json() }
        schedule.queue = try entries["queue"].map(queue)
        schedule.uniqueName = try entries["name"]?.text()
        schedule.uniqueness = try entries["unique"].map(uniqueness)
        schedule.uniqueUntil = try entries["unique_until"].map(uniqueUntil)
        schedule.timeout = try entries["timeout"].map(timeout)
        schedule.retries = try entries["retries"].map { value throws(CatalogueError) in
            try value.number(in: 0...1_000)
        }
        schedule.backoff = try entries["backoff"].map(backoff)
        schedule.priority = try entries["priority"].map { value throws(CatalogueError) in
            try value.number(in: 0...9)
        }
    }
}

extension CatalogueNode {
    private static let deepest = 60
    private static let mostBytes = 1_048_576

    /// Returns the value as JSON text: plain `true`, `false`, `null` and numbers keep their type, all other scalars are
    /// text.
    func json() throws(CatalogueError) -> [UInt8] {
        var output: [UInt8] = []
        try appendJSON(to: &output, depth: 0)
        return output
    }

    private func appendJSON(to output: inout [UInt8], depth: Int) throws(CatalogueError) {
        guard depth < Self.deepest else { throw error("is more than \(Self.deepest) levels deep; flatten it") }
        guard output.count < Self.mostBytes else { throw error("is too large; at most 1 MiB is allowed") }
        switch node {
        case .scalar(let scalar): output += scalarJSON(scalar)
        case .sequence:
            output.append(UInt8(ascii: "["))
            for (index, value) in try values().enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                try value.appendJSON(to: &output, depth: depth + 1)
            }
            output.append(UInt8(ascii: "]"))
        case .mapping:
            output.append(UInt8(ascii: "{"))
            for (index, (name, value)) in try entries().enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                output += Self.text(name)
                output.append(UInt8(ascii: ":"))
                try value.appendJSON(to: &output, depth: depth + 1)
            }
            output.append(UInt8(ascii: "}"))
        case .alias: throw error("is an alias; write the value itself")
        }
    }

    private func scalarJSON(_ scalar: Node.Scalar) -> [UInt8] {
        guard scalar.style == .plain else { return Self.text(scalar.string) }
        if isNull { return Array("null".utf8) }
        let isWord = ["true", "false"].contains(scalar.string)
        return isWord || JSONNumber.isWhole(scalar.string.utf8[...])
            ? Array(scalar.string.utf8) : Self.text(scalar.string)
    }

    private static func text(_ text: String) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        // A string can always be encoded.
        return (try? Array(encoder.encode(text))) ?? Array("\"\"".utf8)
    }
}
