extension Schedule {
    /// Reads a definition from its JSON text, version 1.
    ///
    /// It is strict: every key must be known and occur once, so that no mistake goes unnoticed.
    ///
    /// - Throws: ``ScheduleError``; its code is `unsupported_version` if a newer version of Errand has written the
    ///   text.
    public init(json text: some Sequence<UInt8>) throws(ScheduleError) {
        let bytes = Array(text)
        guard bytes.count <= Self.mostBytes else {
            throw ScheduleError(.malformed, "the text has more than \(Self.mostBytes) bytes; \(Self.shorter)")
        }
        try self.init(members: try ScheduleMembers(bytes))
    }

    private init(members: ScheduleMembers) throws(ScheduleError) {
        guard members.isVersionOne else {
            throw ScheduleError(
                .unsupportedVersion,
                "v",
                "must be the number 1, the only version supported here; if a newer program wrote this, update this one"
            )
        }
        try members.refuseUnknownKeys()
        let template: OperationDescription
        do { template = try OperationDescription(json: try members.required("template")) } catch {
            throw error as? ScheduleError ?? ScheduleError(.malformed, "template", "\(error)")
        }
        let queue = try members.text("queue") ?? "default"
        guard template.givenQueue == nil || template.queue == queue else {
            throw ScheduleError(
                .invalid,
                "queue",
                "is \"\(queue)\", but the template's is \"\(template.queue)\"; leave one out"
            )
        }
        let filled: OperationDescription
        do { filled = try template.filling(queue: queue) } catch {
            throw ScheduleError(.invalid, "queue", error.message)
        }
        try self.init(
            try members.text("name") ?? "",
            try members.timing(),
            pushing: filled,
            catchUp: try members.catchUp(),
            overlap: try members.overlap(),
            revision: Int(try members.number("revision", in: 0...1_000_000_000_000) ?? 0)
        )
        self = from(try members.origin())
    }
}

/// The members of a definition as text.
struct ScheduleMembers {
    private static let known: Set<String> = [
        "v", "name", "queue", "cron", "time_zone", "every_ms", "anchor_ms", "catch_up", "catch_up_limit", "overlap",
        "revision", "template", "origin", "catalogue", "removed_ms", "edited_ms",
    ]

    private var values: [String: ArraySlice<UInt8>] = [:]

    init(_ bytes: [UInt8]) throws(ScheduleError) {
        var scanner = JSONScanner(bytes)
        do {
            try read(&scanner)
        } catch {
            throw error as? ScheduleError
                ?? ScheduleError(.malformed, (error as? JSONTextError).map(\.description) ?? "\(error)")
        }
    }

    private mutating func read(_ scanner: inout JSONScanner) throws {
        scanner.skipWhitespace()
        guard scanner.skip(UInt8(ascii: "{")) else { throw scanner.expected("an object") }
        scanner.skipWhitespace()
        if !scanner.skip(UInt8(ascii: "}")) {
            repeat {
                scanner.skipWhitespace()
                let key = scanner.text(try scanner.memberKey())
                scanner.skipWhitespace()
                let value = scanner.bytes[try scanner.value()]
                guard values.updateValue(value, forKey: key) == nil else {
                    throw ScheduleError(.malformed, String(key.prefix(64)), "is there twice")
                }
                scanner.skipWhitespace()
            } while scanner.skip(UInt8(ascii: ","))
            guard scanner.skip(UInt8(ascii: "}")) else { throw scanner.expected("',' or '}'") }
        }
        try scanner.finish()
    }

    func refuseUnknownKeys() throws(ScheduleError) {
        guard let key = values.keys.filter({ !Self.known.contains($0) }).min() else { return }
        throw ScheduleError(
            .invalid,
            String(key.prefix(64)),
            "is not a key of a schedule; known are \(Self.known.sorted().joined(separator: ", "))"
        )
    }

    func required(_ key: String) throws(ScheduleError) -> ArraySlice<UInt8> {
        guard let value = values[key] else { throw ScheduleError(.malformed, key, "is missing") }
        return value
    }

    func text(_ key: String) throws(ScheduleError) -> String? {
        guard let value = values[key] else { return nil }
        var scanner = JSONScanner(Array(value))
        guard value.first == UInt8(ascii: "\""), let token = try? scanner.string() else {
            throw ScheduleError(.malformed, key, "must be text")
        }
        return scanner.text(token)
    }

    func number(_ key: String, in range: ClosedRange<Int64>) throws(ScheduleError) -> Int64? {
        guard let value = values[key] else { return nil }
        guard let number = decimal(value), range.contains(number) else {
            throw ScheduleError(
                .malformed,
                key,
                "must be a whole number from \(range.lowerBound) to \(range.upperBound), in plain digits"
            )
        }
        return number
    }

    /// Whether the version is 1. Other values, of whatever type, are versions that are not known here.
    var isVersionOne: Bool { values["v"].flatMap { decimal($0) } == 1 }

    private static func misplaced(_ key: String, _ other: String) -> ScheduleError {
        ScheduleError(.invalid, key, "goes with \"\(other)\" only; leave it out")
    }

    func timing() throws(ScheduleError) -> ScheduleTiming {
        switch (try text("cron"), try number("every_ms", in: ScheduleTiming.intervals)) {
        case (let cron?, nil):
            guard values["anchor_ms"] == nil else { throw Self.misplaced("anchor_ms", "every_ms") }
            return try .cron(cron, timeZone: try text("time_zone") ?? "UTC")
        case (nil, let every?):
            guard values["time_zone"] == nil else { throw Self.misplaced("time_zone", "cron") }
            let anchor = try number("anchor_ms", in: ScheduleTiming.times) ?? 0
            return try .every(.milliseconds(every), anchor: anchor)
        default: throw ScheduleError(.invalid, "exactly one of \"cron\" and \"every_ms\" is required")
        }
    }

    func catchUp() throws(ScheduleError) -> Schedule.CatchUp {
        let limit = try number("catch_up_limit", in: 1...Int64(Schedule.mostCaughtUp)).map(Int.init)
        return try Schedule.CatchUp(word: try text("catch_up") ?? "latest", limit: limit)
    }

    func origin() throws(ScheduleError) -> Schedule.Origin {
        let file = try text("catalogue")
        guard file.map({ (1...Schedule.mostCatalogueBytes).contains($0.utf8.count) }) ?? true else {
            throw ScheduleError(.invalid, "catalogue", "must be a path of 1 to \(Schedule.mostCatalogueBytes) bytes")
        }
        let removed = try number("removed_ms", in: ScheduleTiming.times)
        let edited = try number("edited_ms", in: ScheduleTiming.times)
        switch (try text("origin") ?? "program", file, removed, edited) {
        case ("program", nil, nil, nil): return .program
        case ("catalogue", let file?, let removed, nil): return .catalogue(file: file, removed: removed)
        case ("person", let file?, let removed, let edited?):
            return .person(edited: edited, catalogue: file, removed: removed)
        case ("person", nil, nil, let edited?): return .person(edited: edited)
        default:
            throw ScheduleError(
                .invalid,
                "origin",
                "must be \"program\", or \"catalogue\" with \"catalogue\", or \"person\" with \"edited_ms\"; \"removed_ms\" goes "
                    + "with a catalogue only"
            )
        }
    }

    func overlap() throws(ScheduleError) -> Schedule.Overlap {
        guard let word = try text("overlap") else { return .allow }
        guard let overlap = Schedule.Overlap(rawValue: word) else {
            throw ScheduleError(.invalid, "overlap", "must be \"allow\", \"skip\", \"after\" or \"replace\"")
        }
        return overlap
    }
}
