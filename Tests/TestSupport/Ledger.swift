import Foundation

/// A file to which jobs append lines of words about their runs, in order.
package struct Ledger: Sendable {
    /// The path of the file.
    package let path: String

    /// Makes an empty ledger.
    package init(in directory: String) {
        path = directory + "/ledger"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
    }

    /// The lines, split into words.
    package var lines: [[String]] {
        let text = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    }

    /// Returns the other words of every line that begins with `what`.
    package func all(_ what: String) -> [[String]] { lines.filter { $0.first == what }.map { Array($0.dropFirst()) } }

    /// Returns the number of such lines for each id.
    package func counts(_ what: String) -> [String: Int] {
        all(what).reduce(into: [:]) { counts, words in counts[words.first ?? "", default: 0] += 1 }
    }
}
