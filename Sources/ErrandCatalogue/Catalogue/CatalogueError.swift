import ErrandText

/// An error in a catalogue: the problem, its position, and what is permitted.
package struct CatalogueError: Error, CustomStringConvertible {
    /// The file, or the name of the text.
    package let source: String
    /// The line, from 1, if known.
    package var line: Int?
    /// The invalid operation.
    package var operation: String?
    /// The invalid schedule.
    package var schedule: String?
    /// The invalid key, with dots before inner keys: `http.url`.
    package var key: String?
    /// The problem, and what is permitted.
    package let reason: String

    /// Makes an error about the whole file or a line.
    package init(source: String, reason: String, line: Int? = nil) {
        self.source = source
        self.reason = reason
        self.line = line
    }

    /// A description on one line and of limited length, whatever the catalogue contains. For example `jobs.yaml:7:
    /// operation "checksum", key "retries": "many" is not …`.
    package var description: String {
        var place = source
        if let line { place += ":\(line)" }
        let parts = [
            operation.map { "operation \"\($0)\"" }, schedule.map { "schedule \"\($0)\"" }, key.map { "key \"\($0)\"" },
        ].compactMap(\.self)
        let whole = ([place] + (parts.isEmpty ? [] : [parts.joined(separator: ", ")]) + [reason]).joined(
            separator: ": "
        )
        // A catalogue may contain a long text in place of a number.
        return whole.printable.shortened(to: 1000)
    }
}
