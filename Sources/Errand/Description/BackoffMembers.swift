/// The members of a description's `backoff` in version 1.
struct BackoffMembers {
    enum Key: String {
        case base = "base_ms"
        case longest = "longest_ms"
        case jitter
    }

    private var base: Int64?
    private var longest: Int64?
    private var jitter: Double?
    /// The offsets of the values in the description's text, if there is one.
    private var offsets: [Key: Int] = [:]

    /// Makes the members from delays, which may be invalid.
    init(_ made: RetryDelays) throws(DescriptionError) {
        let range = DescriptionLimits.backoffMilliseconds
        base = DescriptionRules.milliseconds(made.base, in: range)
        longest = DescriptionRules.milliseconds(made.longest, in: range)
        jitter = made.jitter
        guard base != nil else { throw error(.invalidValue, .base) }
        guard longest != nil else { throw error(.invalidValue, .longest) }
        _ = try delays()
    }

    /// Reads the object that begins at a position of a text whose syntax is valid. Unknown members are ignored, as in
    /// the whole description.
    init(_ text: JSONScanner, at first: Int) throws(DescriptionError) {
        var scanner = text
        scanner.position = first + 1
        while let (name, value) = scanner.nextMember() {
            guard let key = Key(rawValue: name) else { continue }
            let offset = value.lowerBound - scanner.start
            guard offsets.updateValue(offset, forKey: key) == nil else { throw .repeated(key.field, at: offset) }
            try read(key, scanner, value)
        }
        _ = try delays()
    }

    private mutating func read(_ key: Key, _ scanner: JSONScanner, _ value: Range<Int>) throws(DescriptionError) {
        let first = scanner.bytes[value.lowerBound]
        if first == UInt8(ascii: "n") { return }
        guard first == UInt8(ascii: "-") || isDigit(first) else {
            throw error(.wrongType, key, found: scanner.kind(at: value.lowerBound))
        }
        switch key {
        case .base: base = try integer(key, scanner, value)
        case .longest: longest = try integer(key, scanner, value)
        case .jitter: jitter = Double(String(decoding: scanner.bytes[value], as: UTF8.self)) ?? .nan
        }
    }

    private func integer(_ key: Key, _ scanner: JSONScanner, _ value: Range<Int>) throws(DescriptionError) -> Int64 {
        guard let number = scanner.integer(in: value) else { throw error(.invalidValue, key) }
        return number
    }

    /// Returns the delays. Missing members have the default values.
    func delays() throws(DescriptionError) -> RetryDelays {
        let range = DescriptionLimits.backoffMilliseconds
        if let base, !range.contains(base) { throw error(.invalidValue, .base) }
        if let longest, !range.contains(longest) { throw error(.invalidValue, .longest) }
        if let jitter, !(0...1).contains(jitter) { throw error(.invalidValue, .jitter) }
        if let base, let longest, base > longest {
            let message = "must be at least the base_ms of \(base), but is \(longest)"
            throw DescriptionError(.invalidValue, field: Key.longest.field, offset: offsets[.longest], message)
        }
        var delays = RetryDelays(base: base.map { .milliseconds($0) }, longest: longest.map { .milliseconds($0) })
        if let jitter { delays.jitter = jitter }
        return delays
    }

    /// Returns the object with all three members.
    func text() throws(DescriptionError) -> JSONText {
        let delays = try delays()
        return [
            Key.base.rawValue: JSONText(integerLiteral: Int64(delays.base.wholeMilliseconds)),
            Key.longest.rawValue: JSONText(integerLiteral: Int64(delays.longest.wholeMilliseconds)),
            Key.jitter.rawValue: Int64(exactly: delays.jitter).map(JSONText.init(integerLiteral:))
                ?? JSONText(floatLiteral: delays.jitter),
        ]
    }

    private func error(_ code: DescriptionError.Code, _ key: Key, found: String? = nil) -> DescriptionError {
        let found = found.map { ", but \($0) is there" } ?? ""
        return DescriptionError(code, field: key.field, offset: offsets[key], "must be \(key.rule)\(found)")
    }
}

extension BackoffMembers.Key {
    /// The member's name in errors.
    var field: String { "\(DescriptionKey.backoff.rawValue).\(rawValue)" }

    /// The rule for a value, as the end of the sentence "it must be …".
    var rule: String {
        switch self {
        case .base, .longest: "a whole number of milliseconds from 1 to 31536000000 (365 days), in plain digits"
        case .jitter: "a number from 0 to 1"
        }
    }
}

extension OperationDescription {
    /// The delay before each retry. `nil` if the worker decides: its catalogue or registration, otherwise the defaults
    /// of ``RetryDelays``.
    ///
    /// A `backoff` is used as a whole: missing members have the default values, not those of the worker's catalogue.
    public var backoff: RetryDelays? {
        // The text was validated when it was read or made.
        backoffText.flatMap { try? BackoffMembers(JSONScanner($0.bytes), at: 0).delays() }
    }
}
