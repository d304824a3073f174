/// The name of a group: one or two parts with a slash between.
package struct GroupName: Sendable, Hashable {
    /// The whole name.
    package let text: String
    /// The first part, which is a group of its own for limits and shares.
    package let first: String
    /// The second part; `nil` if there is none.
    package let second: String?

    /// Makes a name from a text that was checked.
    package init(valid text: String) {
        let parts = text.split(separator: "/", maxSplits: 1)
        self.text = text
        first = parts.first.map(String.init) ?? text
        second = parts.count > 1 ? String(parts[1]) : nil
    }

    /// Makes a name; `nil` if the text is not one.
    package init?(_ text: String) {
        guard DescriptionRules.isGroup(text.utf8) else { return nil }
        self.init(valid: text)
    }

    /// What a name is, for errors.
    package static let rule =
        "one or two parts with a slash between, each of 1 to 64 characters of A-Z a-z 0-9 _ . : @ + -"

    /// The whole queue, as a group.
    static let wholeQueue = GroupName(valid: "")

    /// The groups in which a job of this one takes a slot: its first part, and itself.
    package var limited: [String] { second == nil ? [text] : [first, text] }
}
