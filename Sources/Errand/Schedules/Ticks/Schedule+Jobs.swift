import Crypto

extension Schedule {
    /// The id of a tick's job: always the same, so that a tick that was pushed, and then forgotten by a broker that lost
    /// its newest data, is known by its id for as long as ids are remembered.
    func id(ofTick tick: Int64) -> String {
        var id = Array("tick-\(tick)-".utf8)
        for byte in SHA256.hash(data: Array(name.utf8)).prefix(12) { JSONEscaping.appendHex(byte, to: &id) }
        return String(decoding: id, as: UTF8.self)
    }

    /// The job of a tick, or of a run by hand when there is none.
    func job(id: String, tick: Int64?) throws(DescriptionError) -> JobEnvelope {
        var description = template
        description.id = id
        description.metaText = meta(tick: tick)
        if overlap != .allow {
            description.givenPolicy = overlap == .replace ? .replace : .drop
            // One tick's job is out of the next one's way when it has ended, not before.
            description.givenUniqueUntil = nil
            description.name = template.name ?? "schedule \(name)"
        }
        return try description.makeEnvelope()
    }

    /// The template's `meta` with the schedule's name and the tick, so that a handler can tell for which time it works.
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
