/// How often measurements are taken.
struct BenchRuns: Sendable, CustomStringConvertible {
    /// What was asked for; `nil` for as often as can be borne.
    let asked: Int?

    private static let usual = 3

    /// How often one is taken.
    func count(isLong: Bool = false) -> Int { asked ?? (isLong ? 1 : Self.usual) }

    var description: String { asked.map { "\($0)" } ?? "\(Self.usual), 1 of what takes long" }
}
