extension String {
    /// The text with asterisks in place of the passwords in its URLs.
    package var withoutURLPasswords: String {
        guard utf8.firstRange(of: "://".utf8) != nil else { return self }
        var shown: [UInt8] = []
        var rest = Array(utf8)[...]
        while let mark = rest.firstRange(of: "://".utf8) {
            let end = rest[mark.upperBound...].firstIndex { Self.afterURL.contains($0) } ?? rest.endIndex
            let url = rest[mark.lowerBound..<end]
            shown += rest[..<mark.lowerBound]
            if let password = ProcessArguments.passwordRange(in: url) {
                shown += url.prefix(password.lowerBound) + Array("******".utf8) + url.dropFirst(password.upperBound)
            } else {
                shown += url
            }
            rest = rest[end...]
        }
        return String(decoding: shown + rest, as: UTF8.self)
    }

    /// The characters that end a URL in a sentence.
    private static let afterURL = Set(" \n\t\"'`".utf8)
}
