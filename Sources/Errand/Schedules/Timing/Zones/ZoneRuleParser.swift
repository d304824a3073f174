/// Parses the `TZ` string of a zone's file (RFC 9636, section 3.3.1).
struct ZoneRuleParser {
    private var rest: ArraySlice<UInt8>

    /// Returns the rule; `nil` if the text is invalid.
    static func parse(_ text: ArraySlice<UInt8>) -> ZoneRule? {
        var parser = ZoneRuleParser(rest: text)
        guard let rule = parser.rule(), parser.rest.isEmpty else { return nil }
        return rule
    }

    private mutating func rule() -> ZoneRule? {
        guard skipName(), let standard = offset() else { return nil }
        if rest.isEmpty { return ZoneRule(standard: standard, daylight: nil) }
        guard skipName() else { return nil }
        let isStated = rest.first != UInt8(ascii: ",")
        guard let daylight = isStated ? offset() : standard + 3600, abs(daylight) < CivilDay.seconds,
            let start = change(), let end = change()
        else { return nil }
        return ZoneRule(standard: standard, daylight: .init(offset: daylight, start: start, end: end))
    }

    /// Skips an abbreviation: letters, or letters, digits and signs in angle brackets.
    private mutating func skipName() -> Bool {
        let isQuoted = skip("<")
        let length = rest.prefix { isLetter($0) || isQuoted && (isDigit($0) || "+-".utf8.contains($0)) }.count
        rest = rest.dropFirst(length)
        return length >= 3 && (!isQuoted || skip(">"))
    }

    /// Reads an offset, which POSIX counts west of UTC.
    private mutating func offset() -> Int64? {
        guard let seconds = time(hours: 0...24), abs(seconds) < CivilDay.seconds else { return nil }
        return -seconds
    }

    private mutating func change() -> YearlyChange? {
        guard skip(","), let day = day() else { return nil }
        guard skip("/") else { return YearlyChange(day: day, time: 7200) }
        return time(hours: 0...167).map { YearlyChange(day: day, time: $0) }
    }

    private mutating func day() -> YearlyChange.Day? {
        if skip("J") { return number(in: 1...365).map { .ofCommonYear($0) } }
        guard skip("M") else { return number(in: 0...365).map { .ofYear($0) } }
        guard let month = number(in: 1...12), skip("."), let week = number(in: 1...5), skip("."),
            let weekday = number(in: 0...6)
        else { return nil }
        return .ofWeek(month: month, week: week, weekday: weekday)
    }

    /// Reads `[+-]hh[:mm[:ss]]` as seconds.
    private mutating func time(hours: ClosedRange<Int64>) -> Int64? {
        let sign: Int64 = skip("-") ? -1 : 1
        if sign > 0 { _ = skip("+") }
        guard let hour = number(in: hours) else { return nil }
        var seconds = hour * 3600
        for unit: Int64 in [60, 1] where skip(":") {
            guard let part = number(in: 0...59) else { return nil }
            seconds += part * unit
        }
        return sign * seconds
    }

    private mutating func number(in range: ClosedRange<Int64>) -> Int64? {
        let digits = rest.prefix(while: isDigit)
        rest = rest.dropFirst(digits.count)
        guard digits.count <= 3, let number = Int64(String(decoding: digits, as: UTF8.self)) else { return nil }
        return range.contains(number) ? number : nil
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
