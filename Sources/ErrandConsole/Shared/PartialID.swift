/// The beginning or the end of an id, as a table on a terminal shows it: `01KA9ZK9M00001…`, `…-2026-000123`.
///
/// The ellipsis may be typed as three dots. Without one, only the parts of generated ids count: a script that names the
/// job `order-1` after its end must not reach the job `order-10`.
struct PartialID: Sendable {
    /// The lengths of parts: shorter ones are likely mistakes.
    private static let lengths = 6...60
    private static let ellipses = ["…", "..."]

    /// The part without its ellipsis.
    let text: String
    private let isBeginning: Bool
    private let isEnd: Bool

    /// Makes a part from what was typed. What has no ellipsis may be a whole id, too.
    init(_ typed: String) {
        let end = Self.ellipses.first { typed.hasPrefix($0) }
        let beginning = Self.ellipses.first { typed.hasSuffix($0) }
        (isEnd, isBeginning) = (end != nil, beginning != nil)
        text = String(typed.dropFirst(end?.count ?? 0).dropLast(beginning?.count ?? 0))
    }

    /// Whether there can be ids with this part.
    var isSearchable: Bool {
        Self.lengths.contains(text.count)
            && (hasEllipsis || text.count < GeneratedID.length && GeneratedID.mayContain(text))
    }

    /// Whether the part was written with an ellipsis.
    var hasEllipsis: Bool { isBeginning || isEnd }

    /// Returns whether an id has this part.
    func isPart(of id: String) -> Bool {
        switch (isBeginning, isEnd) {
        case (true, true): id.contains(text)
        case (true, false): id.hasPrefix(text)
        case (false, true): id.hasSuffix(text)
        case (false, false): GeneratedID.matches(id) && (id.hasPrefix(text) || id.hasSuffix(text))
        }
    }
}

/// The form of the ids that producers generate: digits and capital letters.
enum GeneratedID {
    static let length = 26

    /// Returns whether an id has the form.
    static func matches(_ id: String) -> Bool { id.utf8.count == length && mayContain(id) }

    /// Returns whether a generated id may contain a text.
    static func mayContain(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    }
}
