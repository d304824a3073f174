/// What the command line asks for.
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

/// A command line that makes no sense, said for people.
struct UsageError: Error {
    let message: String
}

/// How much is measured.
struct Size {
    /// How many operations one run adds and waits for.
    let operations: Int
    /// How many pairs of runs there are.
    let runs: Int
    /// How many operations already wait when the late adds are measured.
    let crowd: Int
    /// How many deadlines are pending at once.
    let deadlines: Int
    /// The seconds over which the deadlines are spread.
    let spread: Int

    static let full = Size(operations: 10_000, runs: 101, crowd: 100_000, deadlines: 100_000, spread: 10)
    static let quick = Size(operations: 10_000, runs: 21, crowd: 100_000, deadlines: 10_000, spread: 1)
}
