import ErrandText

/// Something in a catalogue that is not as it should be: what, where, and what is allowed.
package struct CatalogueError: Error, CustomStringConvertible {
    /// The file, or what stands for it.
    package let source: String
    /// The line, from 1, where known.
    package var line: Int?
    /// The operation that is wrong.
    package var operation: String?
    /// The schedule that is wrong.
    package var schedule: String?
    /// The key that is wrong, with a dot before each inner one: `http.url`.
    package var key: String?
    /// What is wrong and what is allowed.
    package let reason: String

    /// An error about the whole file.
    package init(source: String, reason: String) {
        self.source = source
        self.reason = reason
    }

    /// On one line and not too long, whatever the catalogue holds. For example `jobs.yaml:7: operation "checksum", key "retries": "many" is not …`.
    package var description: String {
        var place = source
        if let line { place += ":\(line)" }
        let parts = [
            operation.map { "operation \"\($0)\"" }, schedule.map { "schedule \"\($0)\"" }, key.map { "key \"\($0)\"" },
        ].compactMap(\.self)
        let whole = ([place] + (parts.isEmpty ? [] : [parts.joined(separator: ", ")]) + [reason]).joined(
            separator: ": "
        )
        return whole.printable.shortened
    }
}

extension String {
    /// At most 1,000 characters: a catalogue may hold a book where a number belongs.
    fileprivate var shortened: String {
        unicodeScalars.count <= 1000 ? self : String(unicodeScalars.prefix(999)) + "…"
    }
}
