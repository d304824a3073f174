import Foundation

/// The rules for the values of a description, whether they come from Swift or from a text.
enum DescriptionRules {
    /// Returns whether the bytes are a valid name of an operation or queue. Braces, colons and similar characters are
    /// excluded, because they have a meaning in keys and channels.
    static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        isText(bytes, upTo: DescriptionLimits.tokenLength) { isWordByte($0) || $0 == UInt8(ascii: ".") }
    }

    /// Returns whether the bytes are a valid id of a job.
    static func isID(_ bytes: some Collection<UInt8>) -> Bool {
        isText(bytes, upTo: DescriptionLimits.idLength, of: isWordByte)
    }

    /// Returns whether the bytes are a valid group: one or two parts.
    static func isGroup(_ bytes: some Collection<UInt8>) -> Bool {
        let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count <= 2
            && parts.allSatisfy { isText($0, upTo: DescriptionLimits.groupPartLength, of: isGroupByte) }
    }

    /// Returns whether the bytes, which are UTF-8, are a valid name.
    static func isName(_ bytes: some Collection<UInt8>) -> Bool {
        (1...DescriptionLimits.nameBytes).contains(bytes.count)
    }

    /// Returns whether these are valid tags.
    static func areTags(_ tags: [String]) -> Bool {
        tags.count <= DescriptionLimits.tags
            && tags.allSatisfy { (1...DescriptionLimits.tagBytes).contains($0.utf8.count) }
    }

    /// Returns whether the number is a valid earliest time to run, in milliseconds since 1970 UTC.
    static func isNotBefore(_ milliseconds: Int64) -> Bool {
        DescriptionLimits.notBeforeMilliseconds.contains(milliseconds)
            && !DescriptionLimits.notBeforeSeconds.contains(milliseconds)
    }

    /// Returns a date as the earliest time to run, rounded up to whole milliseconds. The unit of a date is certain: one
    /// that is long past becomes 0, and one that is too late becomes the latest valid time.
    static func notBefore(_ date: Date) -> Int64 {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded(.up)
        let range = DescriptionLimits.notBeforeMilliseconds
        guard milliseconds > Double(range.lowerBound) else { return 0 }
        guard milliseconds < Double(range.upperBound) else { return range.upperBound }
        return isNotBefore(Int64(milliseconds)) ? Int64(milliseconds) : 0
    }

    /// Returns the duration of a key in milliseconds, rounded up; `nil` if there is none.
    static func milliseconds(_ duration: Duration?, _ key: DescriptionKey) throws(DescriptionError) -> Int64? {
        guard let duration else { return nil }
        guard let milliseconds = milliseconds(duration, in: DescriptionLimits.timeoutMilliseconds) else {
            throw DescriptionError(.invalidValue, key)
        }
        return milliseconds
    }

    /// Returns a duration in milliseconds, rounded up; `nil` if it is outside the range, which begins above zero.
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

    private static func isGroupByte(_ byte: UInt8) -> Bool { isWordByte(byte) || ".:@+".utf8.contains(byte) }

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
    /// Checks every value of a description that was made in Swift.
    func validate() throws(DescriptionError) {
        try check(DescriptionRules.isToken(operation.utf8), .operation)
        try check(givenQueue.map { DescriptionRules.isToken($0.utf8) }, .queue)
        try check(name.map { DescriptionRules.isName($0.utf8) }, .name)
        try check(id.map { DescriptionRules.isID($0.utf8) }, .id)
        try check(notBefore.map(DescriptionRules.isNotBefore), .notBefore)
        try check(retries.map { DescriptionLimits.retries.contains(Int64($0)) }, .retries)
        try check(givenPriority.map { DescriptionLimits.priority.contains(Int64($0)) }, .priority)
        try check(group.map { DescriptionRules.isGroup($0.utf8) }, .group)
        try check(cost.map { DescriptionLimits.cost.contains(Int64($0)) }, .cost)
        try check(DescriptionRules.areTags(tags), .tags)
        try checkArguments()
    }

    private func check(_ isRight: Bool?, _ key: DescriptionKey) throws(DescriptionError) {
        guard isRight ?? true else { throw DescriptionError(.invalidValue, key) }
    }

    private func checkArguments() throws(DescriptionError) {
        try checkSize(arguments.bytes.count)
        // Only a literal can make a text that is too deep.
        var scanner = JSONScanner(arguments.bytes)
        do {
            _ = try scanner.value()
        } catch {
            throw DescriptionError(error, .arguments)
        }
        try checkTotal(metaText == nil ? arguments.bytes.count : encoded().count)
    }

    /// Throws if the arguments have more than 1 MiB.
    func checkSize(_ count: Int, at offset: Int? = nil) throws(DescriptionError) {
        guard count > DescriptionLimits.argumentsBytes else { return }
        throw DescriptionError(.tooLarge, .arguments, at: offset, found: "a text of \(count) bytes")
    }

    /// Throws if the description's text is too large.
    func checkTotal(_ count: Int) throws(DescriptionError) {
        guard count > DescriptionLimits.descriptionBytes else { return }
        throw .tooLarge(count)
    }
}

extension DescriptionError {
    static func tooLarge(_ count: Int) -> DescriptionError {
        DescriptionError(
            .tooLarge,
            "the description has \(count) bytes, but at most \(DescriptionLimits.descriptionBytes) are allowed; "
                + "store large data where the worker can fetch it, and pass a reference"
        )
    }
}
