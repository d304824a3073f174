extension DescriptionParser {
    func unsupportedVersion(at range: Range<Int>) -> DescriptionError {
        DescriptionError(
            .unsupportedVersion,
            field: DescriptionKey.version.rawValue,
            offset: range.lowerBound - scanner.start,
            "must be the number 1, the only version supported here; if a newer producer wrote this, update this program"
        )
    }

    /// Returns an error for the version if that is the cause: in a description of another version, keys that version 1
    /// rejects may come before `v`.
    mutating func unsupportedVersion(insteadOf error: DescriptionError) -> DescriptionError? {
        guard [.missingKey, .duplicateKey, .wrongType, .invalidValue].contains(error.code) else { return nil }
        scanner.position = scanner.start
        scanner.skipWhitespace()
        guard scanner.skip(UInt8(ascii: "{")) else { return nil }
        repeat {
            scanner.skipWhitespace()
            guard let token = try? scanner.memberKey() else { return nil }
            scanner.skipWhitespace()
            guard let range = try? scanner.value() else { return nil }
            let isVersion = scanner.contents(token).elementsEqual(DescriptionKey.version.rawValue.utf8)
            if isVersion && !isVersionOne(range) { return unsupportedVersion(at: range) }
            scanner.skipWhitespace()
        } while scanner.skip(UInt8(ascii: ","))
        return nil
    }
}
