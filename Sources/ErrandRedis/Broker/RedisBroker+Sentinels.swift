import Errand
import ErrandText

extension RedisBroker {
    /// Throws if a server that lacks a command is a sentinel: it has no data, and names the server that has.
    func refuseSentinel(at route: Servers.Route) async throws(BrokerError) {
        let role: [RESPValue]
        do throws(BrokerError) {
            role = try await route.connection.send(.command("ROLE")).first?.elements ?? []
        } catch { return }
        guard role.first?.text == "sentinel" else { return }
        let masters = (role.last?.elements ?? []).compactMap(\.text)
        let place = route.address.hostAndPort.map { "\($0)" } ?? "HOST:PORT"
        let name = masters.count == 1 ? masters[0].printable.shortened(to: 100) : "MASTER"
        throw BrokerError(
            .refused,
            "\(route.address) is a sentinel, which has no data; use the URL redis+sentinel://\(place)/\(name)"
        )
    }
}
