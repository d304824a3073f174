extension Int {
    /// The number and what it counts, in the singular where it is one: `1 job`, `2 jobs`.
    package func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
