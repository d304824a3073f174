import Foundation

/// What the values of a description must be like, whichever way they come in.
enum DescriptionRules {
    /// Whether the bytes may name an operation or a queue. Braces, colons and the like are out, so that a name can
    /// stand in a key or a channel and mean nothing else there.
    static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        isText(bytes, upTo: DescriptionLimits.tokenLength) { isWordByte($0) || $0 == UInt8(ascii: ".") }
    }

    /// Whether the bytes may be a job's id.
    static func isID(_ bytes: some Collection<UInt8>) -> Bool {
        isText(bytes, upTo: DescriptionLimits.idLength, of: isWordByte)
    }

    /// Whether the bytes, which are UTF-8, may be a name.
    static func isName(_ bytes: some Collection<UInt8>) -> Bool {
        (1...DescriptionLimits.nameBytes).contains(bytes.count)
    }

    /// Whether the number may be the earliest time to run, in milliseconds since 1970 UTC.
    static func isNotBefore(_ milliseconds: Int64) -> Bool {
        DescriptionLimits.notBeforeMilliseconds.contains(milliseconds)
            && !DescriptionLimits.notBeforeSeconds.contains(milliseconds)
    }

    /// A date as the earliest time to run, rounded up to whole milliseconds. A date is in no doubt about its unit: one
    /// that is long past becomes 0, and the last time that a job can wait for stands for any later.
    static func notBefore(_ date: Date) -> Int64 {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded(.up)
        let range = DescriptionLimits.notBeforeMilliseconds
        guard milliseconds > Double(range.lowerBound) else { return 0 }
        guard milliseconds < Double(range.upperBound) else { return range.upperBound }
        return isNotBefore(Int64(milliseconds)) ? Int64(milliseconds) : 0
    }

    /// A timeout in milliseconds, rounded up to a whole one.
    static func timeout(_ duration: Duration) throws(DescriptionError) -> Int64 {
        guard let milliseconds = milliseconds(duration, in: DescriptionLimits.timeoutMilliseconds) else {
            throw DescriptionError(.invalidValue, .timeout)
        }
        return milliseconds
    }

    /// A duration in milliseconds, rounded up to a whole one; `nil` when it is out of the range, which begins above zero.
    static func milliseconds(_ duration: Duration, in range: ClosedRange<Int64>) -> Int64? {
        let (seconds, attoseconds) = duration.components
        let attosecondsPerMillisecond: Int64 = 1_000_000_000_000_000
        guard duration > .zero, seconds <= range.upperBound / 1000 else { return nil }
        let milliseconds = seconds * 1000 + (attoseconds + attosecondsPerMillisecond - 1) / attosecondsPerMillisecond
        return range.contains(milliseconds) ? milliseconds : nil
    }

    private static func isText(_ bytes: some Collection<UInt8>, upTo limit: Int, of isAllowed: (UInt8) -> Bool) -> Bool
    {
        (1...limit).contains(bytes.count) && bytes.allSatisfy(isAllowed)
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

extension OperationDescription {
    /// Checks every value of a description that was put together in Swift.
    func validate() throws(DescriptionError) {
        try check(DescriptionRules.isToken(operation.utf8), .operation)
        try check(givenQueue.map { DescriptionRules.isToken($0.utf8) }, .queue)
        try check(name.map { DescriptionRules.isName($0.utf8) }, .name)
        try check(id.map { DescriptionRules.isID($0.utf8) }, .id)
        try check(notBefore.map(DescriptionRules.isNotBefore), .notBefore)
        try check(retries.map { DescriptionLimits.retries.contains(Int64($0)) }, .retries)
        try check(givenPriority.map { DescriptionLimits.priority.contains(Int64($0)) }, .priority)
        try checkArguments()
    }

    private func check(_ isRight: Bool?, _ key: DescriptionKey) throws(DescriptionError) {
        guard isRight ?? true else { throw DescriptionError(.invalidValue, key) }
    }

    private func checkArguments() throws(DescriptionError) {
        try checkSize(arguments.bytes.count)
        // A literal is the one way to a text that is too deep.
        var scanner = JSONScanner(arguments.bytes)
        do {
            _ = try scanner.value()
        } catch {
            throw DescriptionError(error, .arguments)
        }
        try checkTotal(metaText == nil ? arguments.bytes.count : encoded().count)
    }

    /// Refuses arguments of more than 1 MiB.
    func checkSize(_ count: Int, at offset: Int? = nil) throws(DescriptionError) {
        guard count > DescriptionLimits.argumentsBytes else { return }
        throw DescriptionError(.tooLarge, .arguments, at: offset, found: "a text of \(count) bytes")
    }

    /// Refuses a description whose text is larger than any may be.
    func checkTotal(_ count: Int) throws(DescriptionError) {
        guard count > DescriptionLimits.descriptionBytes else { return }
        throw .tooLarge(count)
    }
}

extension DescriptionError {
    static func tooLarge(_ count: Int) -> DescriptionError {
        DescriptionError(
            .tooLarge,
            "the text has \(count) bytes, at most \(DescriptionLimits.descriptionBytes) are allowed; "
                + "put large data where the worker can fetch it and pass a reference"
        )
    }
}
