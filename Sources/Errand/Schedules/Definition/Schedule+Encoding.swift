import ErrandText

extension Schedule {
    /// Returns the definition as JSON text, version 1, as it is stored; see `docs/schedules.md`.
    public func encoded() -> [UInt8] {
        var output = Array(#"{"v":1,"name":""#.utf8)
        output.append(contentsOf: name.utf8)
        output.append(contentsOf: #"","queue":""#.utf8)
        output.append(contentsOf: queue.utf8)
        output.append(UInt8(ascii: "\""))
        switch timing.kind {
        case .cron(let cron):
            output.append(contentsOf: #","cron":"#.utf8)
            JSONEscaping.append(cron.text, to: &output)
            output.append(contentsOf: #","time_zone":"#.utf8)
            JSONEscaping.append(cron.zone.identifier, to: &output)
        case .every(let milliseconds, let anchor):
            output.append(contentsOf: #","every_ms":\#(milliseconds),"anchor_ms":\#(anchor)"#.utf8)
        }
        output.append(contentsOf: #","catch_up":"\#(catchUp.word)""#.utf8)
        if case .all(let limit) = catchUp { output.append(contentsOf: #","catch_up_limit":\#(limit)"#.utf8) }
        output.append(contentsOf: #","overlap":"\#(overlap.rawValue)","revision":\#(revision)"#.utf8)
        origin.encode(to: &output)
        output.append(contentsOf: #","template":"#.utf8)
        template.encode(to: &output)
        output.append(UInt8(ascii: "}"))
        return output
    }

    /// Returns the SHA-1 of a definition's bytes in hexadecimal, which scripts can compute, too. It detects concurrent
    /// changes and need not withstand attacks.
    package static func digest(of definition: [UInt8]) -> String {
        definition.isEmpty ? "" : SHA1.hex(definition)
    }
}

extension Schedule.Origin {
    /// Appends the members of the origin. A program has none.
    fileprivate func encode(to output: inout [UInt8]) {
        guard self != .program else { return }
        output.append(contentsOf: #","origin":"\#(word)""#.utf8)
        if let catalogue {
            output.append(contentsOf: #","catalogue":"#.utf8)
            JSONEscaping.append(catalogue, to: &output)
        }
        if let removed { output.append(contentsOf: #","removed_ms":\#(removed)"#.utf8) }
        if let edited { output.append(contentsOf: #","edited_ms":\#(edited)"#.utf8) }
    }
}

extension Schedule.CatchUp {
    /// The word for it in JSON and on command lines.
    package var word: String {
        switch self {
        case .none: "none"
        case .latest: "latest"
        case .all: "all"
        }
    }

    /// Makes a value from a word and, for `all`, a limit.
    package init(word: String, limit: Int?) throws(ScheduleError) {
        switch (word, limit) {
        case ("none", nil): self = .none
        case ("latest", nil): self = .latest
        case ("all", let limit?): self = .all(limit: limit)
        case ("all", nil): throw ScheduleError(.invalid, "catch_up_limit", "is missing; \"all\" needs it: 1 to 1000")
        case ("none", _?), ("latest", _?):
            throw ScheduleError(.invalid, "catch_up_limit", "goes with the catch-up \"all\" only; leave it out")
        default: throw ScheduleError(.invalid, "catch_up", "must be \"none\", \"latest\" or \"all\"")
        }
    }
}
