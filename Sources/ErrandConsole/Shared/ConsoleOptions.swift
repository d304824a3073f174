import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandRedis

/// The options of all commands of the console.
struct ConsoleOptions: ParsableArguments {
    @Flag(help: "Write JSON for programs.")
    var json = false

    @OptionGroup(title: "Broker") var broker: BrokerOptions

    /// Opens the broker of the options and passes it to a closure. Reports which broker it is if neither the options nor
    /// the environment say so.
    func withBroker<Value>(_ body: (RedisBroker) async throws -> Value) async throws -> Value {
        try await broker.withBroker(as: "errand", patience: .seconds(5), quiet: broker.namesBroker) { broker in
            try await ReplyNotice.whileWaiting(for: broker) { try await body(broker) }
        }
    }
}
