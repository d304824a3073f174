extension Int {
    /// The number and what it counts, in the singular where it is one: `1 job`, `2,000 jobs`.
    package func counted(_ noun: String) -> String { "\(grouped) \(noun)\(self == 1 ? "" : "s")" }
}
