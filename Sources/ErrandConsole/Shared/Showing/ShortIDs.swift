/// The short forms of ids in a table on a terminal. Commands accept them as ``PartialID``.
///
/// Generated ids begin with a time and a counter and end with a part that all jobs of a producer share, so only their
/// beginnings differ. Ids that people make usually differ at the end.
struct ShortIDs: Sendable {
    /// Ids that are hardly longer than a short one are shown whole.
    private static let mostWhole = 16
    private static let length = 14

    /// The short forms that several of the table's ids have.
    private let ambiguous: Set<String>

    /// Makes the short forms for a table's ids.
    init(of ids: [String]) {
        let counts = Set(ids).reduce(into: [String: Int]()) { $0[Self.short($1), default: 0] += 1 }
        ambiguous = Set(counts.filter { $0.value > 1 }.keys)
    }

    /// Returns the short form of one of the ids, or the whole id if others have the same short form.
    func text(of id: String) -> String {
        let short = Self.short(id)
        return ambiguous.contains(short) ? id : short
    }

    private static func short(_ id: String) -> String {
        if id.count <= mostWhole { return id }
        return GeneratedID.matches(id) ? "\(id.prefix(length))…" : "…\(id.suffix(length))"
    }
}
