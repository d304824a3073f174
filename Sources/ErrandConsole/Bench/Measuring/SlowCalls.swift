import Errand
import ErrandRedis

/// The longest call of the servers while something is measured, from their slow logs.
struct SlowCalls {
    /// A server, and what it had for each setting.
    private struct Server {
        let place: CommandPlace
        let before: [[String]]
    }

    /// Notes calls of 0.1 ms and more.
    private static let settings = [["slowlog-log-slower-than", "100"], ["slowlog-max-len", "100000"]]

    private let stage: BenchStage
    /// `nil` if one of the servers does not permit to read or change its settings.
    private let servers: [Server]?

    /// Lets all servers note their calls from now on.
    init(_ stage: BenchStage) async throws(BrokerError) {
        self.stage = stage
        do throws(BrokerError) {
            var servers: [Server] = []
            for address in try await stage.broker.allServers() {
                let place = CommandPlace.server(address)
                servers.append(Server(place: place, before: try await Self.values(at: place, of: stage)))
                _ = try await stage.broker.command(.command("SLOWLOG", "RESET"), for: place)
                try await Self.set(Self.settings, at: place, of: stage)
            }
            self.servers = servers
        } catch {
            guard [.notPermitted, .refused].contains(error.code) else { throw error }
            servers = nil
        }
    }

    /// Returns the time of the longest call in milliseconds, and restores the settings; `nil` if it is not known.
    func longest() async throws(BrokerError) -> Double? {
        guard let servers else { return nil }
        var longest: Int64 = 0
        for server in servers {
            let entries = try await stage.broker.command(.command("SLOWLOG", "GET", "100000"), for: server.place)
            // Each has its number, its time, what it took in microseconds, and the command.
            for case .array(let entry) in entries.elements ?? [] where entry.count > 3 && Self.isOurs(entry[3]) {
                longest = max(longest, entry[2].number ?? 0)
            }
            try await Self.set(server.before, at: server.place, of: stage)
        }
        return Double(longest) / 1000
    }

    /// Whether a command runs a script.
    private static func isOurs(_ command: RESPValue) -> Bool {
        ["EVALSHA", "EVAL"].contains(command.elements?.first?.text?.uppercased())
    }

    private static func values(at place: CommandPlace, of stage: BenchStage) async throws(BrokerError) -> [[String]] {
        var values: [[String]] = []
        for setting in settings {
            let answer =
                try await stage.broker.command(.command("CONFIG", "GET", setting[0]), for: place).elements ?? []
            values.append(answer.compactMap(\.text))
        }
        return values
    }

    private static func set(
        _ settings: [[String]],
        at place: CommandPlace,
        of stage: BenchStage
    ) async throws(BrokerError) {
        for setting in settings where setting.count == 2 {
            _ = try await stage.broker.command(.command("CONFIG", "SET", setting[0], setting[1]), for: place)
        }
    }
}
