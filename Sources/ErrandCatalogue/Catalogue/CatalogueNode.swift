import ErrandText
import Yams

/// A node of the YAML tree and the path to it, so that every error can state its position.
struct CatalogueNode {
    let node: Node
    let source: String
    var operation: String?
    var schedule: String?
    var key: String?

    /// Returns an error about this node.
    func error(_ reason: String) -> CatalogueError {
        var error = CatalogueError(source: source, reason: reason)
        error.line = node.mark?.line
        error.operation = operation
        error.schedule = schedule
        error.key = key
        return error
    }

    /// Returns the pairs of a mapping, in the order of the file.
    ///
    /// - Parameter needed: What the mapping must have, for people.
    func entries(
        _ needed: String = "a mapping of keys to values belongs here"
    ) throws(CatalogueError) -> [(key: String, value: CatalogueNode)] {
        guard case .mapping(let mapping) = node else { throw error("is \(kind); \(needed)") }
        var entries: [(key: String, value: CatalogueNode)] = []
        for (keyNode, value) in mapping {
            guard case .scalar(let name) = keyNode else {
                throw error("has a key that is not plain text; write or quote it as text")
            }
            var place = CatalogueNode(node: value, source: source, operation: operation, schedule: schedule)
            place.key = key.map { "\($0).\(name.string)" } ?? name.string
            entries.append((name.string, place))
        }
        return entries
    }

    /// Returns the pairs of a mapping whose keys must be known ones.
    func entries(known: [String]) throws(CatalogueError) -> [String: CatalogueNode] {
        var found: [String: CatalogueNode] = [:]
        let needed = "write keys and values; known keys: \(known.joined(separator: ", "))"
        for (name, value) in try entries(needed) {
            guard known.contains(name) else {
                let hint = Spelling.nearest(to: name, among: known).map { "; did you mean \"\($0)\"?" } ?? ";"
                throw value.error("is not a known key\(hint) Known keys: \(known.joined(separator: ", "))")
            }
            found[name] = value
        }
        return found
    }

    /// Returns the values of a list.
    func values() throws(CatalogueError) -> [CatalogueNode] {
        guard case .sequence(let sequence) = node else { throw error("is \(kind); a list belongs here") }
        return sequence.map {
            CatalogueNode(node: $0, source: source, operation: operation, schedule: schedule, key: key)
        }
    }

    /// What ``text(_:)`` needs if its caller does not say.
    static let anyText = "text"

    /// Returns the text of a scalar as it is written, whatever type YAML gives it: `1.0` stays `1.0`.
    ///
    /// - Parameter needed: What the text must be, for people.
    func text(_ needed: String = CatalogueNode.anyText) throws(CatalogueError) -> String {
        guard case .scalar(let scalar) = node, !isNull else {
            // Numbers and durations have no braces.
            let isText = needed == Self.anyText && node.mapping != nil
            let hint = isText ? " (quote what begins with a brace: \"{path}\")" : ""
            throw error("is \(kind); \(needed) belongs here\(hint)")
        }
        return scalar.string
    }

    /// Returns a whole number within a range.
    func number(in range: ClosedRange<Int64>) throws(CatalogueError) -> Int {
        let needed = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        let text = try text(needed)
        guard let number = Int(text), range.contains(Int64(number)) else {
            throw error("\"\(text.shortened(to: 100))\" is not \(needed)")
        }
        return number
    }

    /// Returns a yes or no.
    func boolean() throws(CatalogueError) -> Bool {
        switch try text("true or false") {
        case "true": return true
        case "false": return false
        case let other: throw error("is \"\(other)\"; true or false belongs here")
        }
    }

    /// Returns one of a few words, which are `what` for people.
    func word<Word: RawRepresentable<String> & CaseIterable>(_ what: String) throws(CatalogueError) -> Word {
        let allowed = Word.allCases.map(\.rawValue).joined(separator: ", ")
        let text = try text("\(what) (one of \(allowed))")
        guard let word = Word(rawValue: text) else {
            throw error("\"\(text.shortened(to: 100))\" is not \(what); allowed: \(allowed)")
        }
        return word
    }

    /// Returns a duration.
    func duration() throws(CatalogueError) -> Duration {
        let text = try text("a duration, such as 90s, 5m or 2h,")
        do { return try DurationText.parse(text) } catch { throw self.error("\(error)") }
    }

    /// Returns a duration within a range of milliseconds; it is `what` for people.
    func duration(_ what: String, in range: ClosedRange<Int64>) throws(CatalogueError) -> Duration {
        let (duration, longest) = (try duration(), Duration.milliseconds(range.upperBound))
        guard duration <= longest else {
            let (text, limit) = (DurationText.format(duration), DurationText.format(longest))
            throw error("is \(text); \(what) is at most \(limit)")
        }
        return duration
    }

    /// The rule for names of operations, schedules and queues.
    static let nameRule = "1 to 128 of the characters A-Z, a-z, 0-9, \"_\", \".\" and \"-\" are allowed"

    /// Whether the node is a plain scalar that YAML resolves to null: nothing, `~` or `null`.
    var isNull: Bool {
        guard case .scalar(let scalar) = node else { return false }
        return scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    private var kind: String {
        switch node {
        case .scalar(let scalar): isNull ? "empty" : "\"\(scalar.string.shortened(to: 100))\""
        case .mapping: "a mapping"
        case .sequence: "a list"
        case .alias: "an alias"
        }
    }
}

/// Suggestions for mistyped words.
enum Spelling {
    /// Returns the nearest candidate with at most two typing errors, if there is one.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let ranked = candidates.map { ($0, distance(Array(word.lowercased()), Array($0))) }
        return ranked.filter { $0.1 <= 2 }.min { $0.1 < $1.1 }?.0
    }

    /// Returns how many characters must be inserted, removed or exchanged to turn one word into the other.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var row = Array(0...right.count)
        for (index, character) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in right.enumerated() {
                let exchanged = diagonal + (character == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(exchanged, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row[right.count]
    }
}
