import Errand

/// Finds the master that sentinels watch, and connects to it.
///
/// As the guide for clients of sentinels has it: ask the sentinels in turn, then ask the server for its role, because a
/// sentinel may not know of a failover yet.
///
/// <https://redis.io/docs/latest/develop/reference/sentinel-clients/>
struct SentinelSearch {
    private let address: RedisAddress
    private let sentinels: RedisAddress.Sentinels
    private let options: ConnectionOptions

    init(_ address: RedisAddress, _ sentinels: RedisAddress.Sentinels, _ options: ConnectionOptions) {
        self.address = address
        self.sentinels = sentinels
        self.options = options
    }

    /// Connects to the master.
    ///
    /// - Throws: `BrokerError` that says what each sentinel answered, if none named a server that is a master.
    func connect() throws(BrokerError) -> HiredisContext {
        var problems: [String] = []
        for place in sentinels.places {
            do throws(BrokerError) { return try connect(asking: place) } catch {
                if error.code == .notPermitted { throw error }
                problems.append(error.message)
            }
        }
        throw BrokerError(.notReachable, "no master \(sentinels.master): " + problems.joined(separator: "; "))
    }

    private func connect(asking place: HostAndPort) throws(BrokerError) -> HiredisContext {
        let master = address.server(try self.master(asking: place))
        var context = try HiredisContext.greeted(master, options)
        let role: RESPValue
        do throws(BrokerError) {
            role = try context.roundTrip(CommandWriter.command("ROLE").bytes, replies: 1)[0]
        } catch {
            throw BrokerError(.notReachable, "\(master) did not say its role: \(error.message)")
        }
        switch role {
        // If the user may not call ROLE, the first write shows whether the server is a master.
        case .error(let text) where ServerError(text).word == "NOPERM": return context
        case .error(let text):
            throw BrokerError(.notReachable, "\(master) did not say its role: \(ServerError(text).text)")
        default: break
        }
        guard role.elements?.first?.text == "master" else {
            throw BrokerError(.notReachable, "the sentinel \(place) names \(master), which is no master")
        }
        return context
    }

    private func master(asking place: HostAndPort) throws(BrokerError) -> HostAndPort {
        // Others can be asked instead of a sentinel that does not reply.
        var options = options
        options.connectTimeout = min(options.connectTimeout, .seconds(1))
        options.commandTimeout = min(options.commandTimeout, .seconds(1))
        var context: HiredisContext
        do throws(BrokerError) {
            context = try HiredisContext.greeted(RedisAddress(sentinels, at: place), options)
        } catch {
            // Another one may accept what this one rejects.
            throw BrokerError(.notReachable, "the sentinel \(place): \(error.message)")
        }
        let question = CommandWriter.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", sentinels.master)
        let reply: RESPValue
        do throws(BrokerError) { reply = try context.roundTrip(question.bytes, replies: 1)[0] } catch {
            throw BrokerError(.notReachable, "the sentinel \(place) did not reply: \(error.message)")
        }
        if case .error(let text) = reply {
            throw BrokerError(.notReachable, "the sentinel \(place) answered \(ServerError(text).text)")
        }
        guard let parts = reply.elements, parts.count == 2, let host = parts[0].text, !host.isEmpty,
            let port = parts[1].number, (1...65535).contains(port)
        else { throw BrokerError(.notReachable, "the sentinel \(place) knows no master \(sentinels.master)") }
        return HostAndPort(host: host, port: Int(port))
    }
}
