import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandRedis

/// What every command of the console can be told.
struct ConsoleOptions: ParsableArguments {
    @Flag(help: "Write JSON for programs.")
    var json = false

    @OptionGroup(title: "Broker") var broker: BrokerOptions

    /// Works with the broker that is meant.
    func withBroker<Value>(_ body: (RedisBroker) async throws -> Value) async throws -> Value {
        try await broker.withBroker(as: "errand", patience: .seconds(5), body)
    }
}
