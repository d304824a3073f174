extension Int {
    /// Returns the number and the noun, in the singular for one: `1 job`, `2,000 jobs`.
    package func counted(_ noun: String) -> String { "\(grouped) \(noun)\(self == 1 ? "" : "s")" }
}
