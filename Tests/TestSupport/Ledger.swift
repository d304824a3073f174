import Foundation

/// A file to which jobs append lines of words: what happened, in which order.
package struct Ledger: Sendable {
    /// Where it is.
    package let path: String

    /// Begins an empty one.
    package init(in directory: String) {
        path = directory + "/ledger"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
    }

    /// Its lines, each as its words.
    package var lines: [[String]] {
        let text = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    }

    /// The words after `what` of every line that begins so.
    package func all(_ what: String) -> [[String]] { lines.filter { $0.first == what }.map { Array($0.dropFirst()) } }

    /// How often each id has such a line.
    package func counts(_ what: String) -> [String: Int] {
        all(what).reduce(into: [:]) { counts, words in counts[words.first ?? "", default: 0] += 1 }
    }
}
