extension HTTPHead {
    /// Returns the status in the first line of a head.
    ///
    /// libcurl reads a line whose version it does not recognize as status 200, whatever it contains.
    ///
    /// - Throws: A final ``HTTPFailure`` if the line has no status.
    static func status(_ line: UnsafeRawBufferPointer) throws(HTTPFailure) -> Int {
        let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count > 1, isVersion(words[0]), let status = status(words[1]) else {
            throw .unreadable(
                "its first line lacks an HTTP version or a status of three digits: \(PrintableQuote(Array(line)))"
            )
        }
        return status
    }

    private static func isVersion(_ word: Substring) -> Bool {
        let number = word.utf8.dropFirst(5)
        return word.lowercased().hasPrefix("http/") && number.first.map(isDigit) ?? false
            && number.allSatisfy { isDigit($0) || $0 == UInt8(ascii: ".") }
    }

    /// Parses three digits; a reason may follow without a space.
    private static func status(_ word: Substring) -> Int? {
        let digits = word.utf8.prefix(while: isDigit)
        guard digits.count == 3, let status = Int(String(digits) ?? ""), status >= 100 else { return nil }
        return status
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
