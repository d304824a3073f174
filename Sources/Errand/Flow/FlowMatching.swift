import ErrandText

/// The pattern of a rule: which groups it is for, and how specific it is.
///
/// The rule whose pattern has the longest literal prefix applies. A `*` never stands for a slash, so a rule is either for
/// first parts or for second ones.
package struct FlowMatching: Sendable, Hashable {
    package let pattern: String
    /// The literals of each part, between which any characters may be.
    private let parts: [[String]]
    /// The length of the literal prefix; one more for a pattern without `*`.
    let rank: Int

    /// Reads a pattern.
    ///
    /// - Throws: ``BrokerError`` with code `refused` if it is none.
    package init(_ pattern: String) throws(BrokerError) {
        let parts = pattern.split(separator: "/", omittingEmptySubsequences: false)
        guard pattern.isEmpty || (parts.count <= 2 && parts.allSatisfy(Self.isPart)) else {
            throw BrokerError(
                .refused,
                "\"\(pattern.printable.shortened(to: 200))\" is not a pattern: write one or two parts with a slash between, of "
                    + "[A-Za-z0-9_.:@+*-]{1,64} each, or nothing for the whole queue"
            )
        }
        self.pattern = pattern
        self.parts = parts.map { $0.split(separator: "*", omittingEmptySubsequences: false).map(String.init) }
        let prefix = pattern.prefix { $0 != "*" }
        rank = prefix.utf8.count + (prefix == pattern ? 1 : 0)
    }

    private static func isPart(_ part: Substring) -> Bool {
        let plain = part.replacing("*", with: "-")
        return part.utf8.count <= DescriptionLimits.groupPartLength && DescriptionRules.isGroup(plain.utf8)
    }

    /// Whether it is the pattern of the whole queue.
    var isWholeQueue: Bool { pattern.isEmpty }

    func matches(_ group: GroupName) -> Bool {
        // The whole queue has a rule of its own, and no other one.
        guard !isWholeQueue, !group.text.isEmpty else { return isWholeQueue && group.text.isEmpty }
        let texts = [group.first] + (group.second.map { [$0] } ?? [])
        return texts.count == parts.count && zip(parts, texts).allSatisfy { Self.matches($0, $1[...]) }
    }

    private static func matches(_ literals: [String], _ text: Substring) -> Bool {
        guard let first = literals.first, let last = literals.last, literals.count > 1 else {
            return literals.first.map { $0 == text } ?? false
        }
        guard text.hasPrefix(first) else { return false }
        var rest = text.dropFirst(first.count)
        for literal in literals.dropFirst().dropLast() where !literal.isEmpty {
            guard let found = rest.firstRange(of: literal) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.hasSuffix(last)
    }

    /// Whether it would be unclear which of two rules applies to a group.
    func ties(with other: FlowMatching) -> Bool {
        let prefixes = [self, other].map { $0.pattern.prefix { $0 != "*" } }
        return prefixes[0] == prefixes[1] && rank == other.rank && parts.count == other.parts.count
            && pattern != other.pattern
    }
}
