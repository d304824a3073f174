/// The clocks of one zone, read from a file of the time zone database (TZif, RFC 9636).
struct ZoneFile: Sendable, Equatable {
    /// The times at which the clocks change, ascending, in seconds since 1970 UTC.
    private(set) var changes: [Int64] = []
    /// The offset from each change on, in seconds east of UTC.
    private var offsets: [Int64] = []
    /// The offset before the first change.
    private var first: Int64 = 0
    /// The rule after the last change, if the file has one.
    private var rule: ZoneRule?

    /// Why bytes cannot be read as the clocks of a zone.
    enum Fault: Error, Equatable {
        /// The bytes are not a zone's file.
        case notAZone
        /// The bytes begin like a zone's file but are damaged.
        case damaged
        /// The times count leap seconds, as in the files below `right/`.
        case countsLeapSeconds
    }

    /// The valid offsets from UTC: less than a day.
    private static let offsets = (1 - CivilDay.seconds)...(CivilDay.seconds - 1)

    /// Reads a file's bytes.
    init(_ bytes: [UInt8]) throws(Fault) {
        var reader = ByteReader(bytes[...])
        let old = try Header(&reader)
        guard old.version >= 2 else {
            try readBlock(old, timeSize: 4, &reader)
            return
        }
        // Newer files repeat all data with longer times.
        try reader.skip(old.blockSize(timeSize: 4))
        let header = try Header(&reader)
        try readBlock(header, timeSize: 8, &reader)
        try readRule(reader.rest)
    }

    /// Returns how many seconds the clocks are ahead of UTC at a time in seconds since 1970 UTC.
    func offset(at seconds: Int64) -> Int64 {
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle] <= seconds { low = middle + 1 } else { high = middle }
        }
        if let rule, low == changes.count { return rule.offset(at: seconds) }
        return low == 0 ? first : offsets[low - 1]
    }

    private mutating func readBlock(_ header: Header, timeSize: Int, _ reader: inout ByteReader) throws(Fault) {
        guard header.leapSeconds == 0 else { throw .countsLeapSeconds }
        guard header.types > 0, header.blockSize(timeSize: timeSize) <= reader.rest.count else { throw .damaged }
        for _ in 0..<header.times { changes.append(try reader.integer(timeSize)) }
        guard zip(changes, changes.dropFirst()).allSatisfy({ $0 < $1 }) else { throw .damaged }
        let kinds = try reader.take(header.times)
        var offsetsOfTypes: [Int64] = []
        for _ in 0..<header.types {
            offsetsOfTypes.append(try reader.integer(4))
            try reader.skip(2)
        }
        guard offsetsOfTypes.allSatisfy(Self.offsets.contains), kinds.allSatisfy({ $0 < header.types }) else {
            throw .damaged
        }
        offsets = kinds.map { offsetsOfTypes[Int($0)] }
        first = offsetsOfTypes[0]
        try reader.skip(header.characters + header.indicators)
    }

    /// Reads the last line. If it is empty, the file has no data for the time after the last change.
    private mutating func readRule(_ line: ArraySlice<UInt8>) throws(Fault) {
        let newline = UInt8(ascii: "\n")
        guard line.first == newline, let end = line.dropFirst().firstIndex(of: newline) else { throw .damaged }
        let text = line[(line.startIndex + 1)..<end]
        if text.isEmpty { return }
        guard let rule = ZoneRuleParser.parse(text) else { throw .damaged }
        self.rule = rule
    }
}

extension ZoneFile {
    /// The counts of all parts of a block.
    private struct Header {
        let version: Int
        let indicators: Int
        let leapSeconds: Int
        let times: Int
        let types: Int
        let characters: Int

        init(_ reader: inout ByteReader) throws(Fault) {
            guard reader.rest.starts(with: "TZif".utf8) else { throw .notAZone }
            try reader.skip(4)
            let version = try reader.take(1).first ?? 0
            self.version = version == 0 ? 1 : Int(version) - Int(UInt8(ascii: "0"))
            try reader.skip(15)
            indicators = try reader.count() + reader.count()
            leapSeconds = try reader.count()
            times = try reader.count()
            types = try reader.count()
            characters = try reader.count()
        }

        func blockSize(timeSize: Int) -> Int {
            times * (timeSize + 1) + types * 6 + characters + leapSeconds * (timeSize + 4) + indicators
        }
    }

    private struct ByteReader {
        private(set) var rest: ArraySlice<UInt8>

        init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

        mutating func take(_ count: Int) throws(Fault) -> ArraySlice<UInt8> {
            guard count <= rest.count else { throw .damaged }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }

        mutating func skip(_ count: Int) throws(Fault) { _ = try take(count) }

        /// Reads a signed big-endian number.
        mutating func integer(_ size: Int) throws(Fault) -> Int64 {
            let bytes = try take(size)
            let sign: Int64 = (bytes.first ?? 0) >= 0x80 ? -1 : 0
            return bytes.reduce(sign) { $0 << 8 | Int64($1) }
        }

        /// Reads a count, which cannot exceed the number of remaining bytes.
        mutating func count() throws(Fault) -> Int {
            let number = try integer(4)
            guard (0...Int64(rest.count)).contains(number) else { throw .damaged }
            return Int(number)
        }
    }
}
