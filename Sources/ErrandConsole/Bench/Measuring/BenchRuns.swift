/// The number of runs of each measurement.
struct BenchRuns: Sendable, CustomStringConvertible {
    /// The requested number; `nil` for the default.
    let asked: Int?

    private static let usual = 3

    /// Returns the number of runs of a measurement.
    func count(isLong: Bool = false) -> Int { asked ?? (isLong ? 1 : Self.usual) }

    var description: String { asked.map { "\($0)" } ?? "\(Self.usual), 1 of what takes long" }
}
