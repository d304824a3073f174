import ArgumentParser
import ErrandCommandLine

/// Which server a benchmark loads: only one that its own command line names. What the environment names belongs to
/// somebody's programs.
struct BenchBrokerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The broker: redis://[user[:password]@]host[:port][/db] or unix:///path/to/socket.",
            discussion: "Without it: an embedded broker for this run only. The environment names none to a benchmark.",
            valueName: "url"
        )
    )
    var redis: String?

    @Option(help: ArgumentHelp("Use the embedded broker with its data in this directory.", valueName: "dir"))
    var embedded: String?

    func validate() throws {
        if redis != nil, embedded != nil { throw ValidationError("--redis and --embedded exclude each other") }
    }

    /// The broker that is named; `nil` when none is.
    var named: BrokerOptions? {
        guard redis != nil || embedded != nil else { return nil }
        var options = BrokerOptions()
        options.redis = redis
        options.embedded = embedded
        return options
    }
}
