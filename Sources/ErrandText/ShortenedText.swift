extension String {
    /// Returns at most `limit` bytes of UTF-8, cut between the encodings of characters.
    package func clipped(toUTF8 limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }

    /// Returns at most `most` Unicode scalars, the last of which is "…" if any were cut. A single character may have any
    /// length.
    package func shortened(to most: Int) -> String {
        guard utf8.count > most, unicodeScalars.count > most else { return self }
        return String(unicodeScalars.prefix(most - 1)) + "…"
    }
}
