/// The options of the command line.
struct Options {
    static let usage = """
        usage: BackgroundableBench [--json] [--quick]
          --json   print one JSON object instead of a table
          --quick  measure less: a few seconds, rougher figures
          --help   print this
        """

    private(set) var wantsJSON = false
    private(set) var wantsHelp = false
    private(set) var size = Size.full

    init(arguments: some Sequence<String>) throws {
        for argument in arguments {
            switch argument {
            case "--json": wantsJSON = true
            case "--quick": size = .quick
            case "--help", "-h": wantsHelp = true
            default: throw UsageError(message: "unknown argument '\(argument)'")
            }
        }
    }
}

/// An invalid command line, with a message for people.
struct UsageError: Error {
    let message: String
}

/// The size of the measurements.
struct Size {
    /// The number of operations that one run adds and waits for.
    let operations: Int
    /// The number of pairs of runs.
    let runs: Int
    /// The number of operations that are waiting when the late additions are measured.
    let crowd: Int
    /// The number of deadlines that are pending at the same time.
    let deadlines: Int
    /// The seconds over which the deadlines are spread.
    let spread: Int

    static let full = Size(operations: 10_000, runs: 101, crowd: 100_000, deadlines: 100_000, spread: 10)
    static let quick = Size(operations: 10_000, runs: 21, crowd: 100_000, deadlines: 10_000, spread: 1)
}
