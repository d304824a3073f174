import ErrandText

extension Schedule {
    /// Returns the id of a tick's job. It is always the same, so that a tick that is pushed again after a broker has
    /// lost its newest data is recognized by its id, as long as ids are remembered.
    package func id(ofTick tick: Int64) -> String {
        "tick-\(tick)-\(SHA256.hex(name.utf8).prefix(24))"
    }

    /// Makes the job of a tick, or of a run by hand if `tick` is `nil`.
    func job(id: String, tick: Int64?) throws(DescriptionError) -> JobEnvelope {
        var description = template
        description.id = id
        description.metaText = meta(tick: tick)
        if overlap != .allow {
            description.givenPolicy = overlap == .replace ? .replace : .drop
            // The job of a tick holds its name until it has ended.
            description.givenUniqueUntil = nil
            description.name = template.name ?? "schedule \(name)"
        }
        return try description.makeEnvelope()
    }

    /// Returns the template's `meta` with the schedule's name and the tick, which a handler can read.
    private func meta(tick: Int64?) -> JSONText {
        var bytes = Array((template.metaText ?? .emptyObject).bytes.dropLast())
        while let last = bytes.last, [0x20, 0x09, 0x0A, 0x0D].contains(last) { bytes.removeLast() }
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        bytes.append(contentsOf: #""schedule":"\#(name)""#.utf8)
        if let tick { bytes.append(contentsOf: #","tick_ms":"\#(tick)""#.utf8) }
        bytes.append(UInt8(ascii: "}"))
        return JSONText(unchecked: bytes)
    }

}
