import Errand

/// Questions to one sentinel.
struct SentinelQuery: Sendable {
    private let master: String
    private let place: HostAndPort
    private let address: RedisAddress
    private let options: ConnectionOptions

    init(_ sentinels: RedisAddress.Sentinels, _ place: HostAndPort, _ options: ConnectionOptions) {
        master = sentinels.master
        self.place = place
        address = RedisAddress(sentinels, at: place)
        var options = options
        // Others can be asked instead of a sentinel that does not reply.
        options.connectTimeout = min(options.connectTimeout, .seconds(1))
        options.commandTimeout = min(options.commandTimeout, .seconds(1))
        self.options = options
    }

    /// Returns the address of the master.
    func masterAddress() throws(BrokerError) -> HostAndPort {
        let reply = try ask("GET-MASTER-ADDR-BY-NAME")
        guard let parts = reply.elements, parts.count == 2, let host = parts[0].text, let port = parts[1].number,
            let found = HostAndPort(reported: host, port: port)
        else {
            throw BrokerError(
                .notReachable,
                "the sentinel \(place) knows no master \(master); correct the name at the end of the URL"
            )
        }
        return found
    }

    /// Returns the number of the failover after which the master is the master.
    func epoch() throws(BrokerError) -> Int64 {
        let fields = try ask("MASTER").elements ?? []
        guard let name = fields.firstIndex(where: { $0.text == "config-epoch" }), fields.indices.contains(name + 1),
            let epoch = fields[name + 1].number
        else { throw BrokerError(.protocolViolation, "the sentinel \(place) knows no epoch of \(master)") }
        return epoch
    }

    private func ask(_ question: String) throws(BrokerError) -> RESPValue {
        var context: HiredisContext
        do throws(BrokerError) { context = try HiredisContext.greeted(address, options) } catch {
            throw problem(error.code, ": \(error.message)")
        }
        let reply: RESPValue
        do throws(BrokerError) {
            reply = try context.roundTrip(CommandWriter.command("SENTINEL", question, master).bytes, replies: 1)[0]
        } catch {
            throw BrokerError(.notReachable, "the sentinel \(place) did not reply: \(error.message)")
        }
        guard case .error(let text) = reply else { return reply }
        let error = ServerError(text)
        if error.isOfUnknownCommand {
            throw BrokerError(.notReachable, "\(place) is not a sentinel; use redis:// for the address of a server")
        }
        let code = error.brokerError(at: address).code
        let hint = code == .notPermitted ? "; check sentinel_password and sentinel_user in the URL" : ""
        throw problem(code, " answered \(error.text)\(hint)")
    }

    private func problem(_ code: BrokerError.Code, _ what: String) -> BrokerError {
        BrokerError(code == .notPermitted ? .notPermitted : .notReachable, "the sentinel \(place)\(what)")
    }
}
