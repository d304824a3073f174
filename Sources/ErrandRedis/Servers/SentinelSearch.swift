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
        var problems: [BrokerError] = []
        var tried: Set<HostAndPort> = []
        for place in sentinels.places {
            let master: HostAndPort
            do throws(BrokerError) { master = try SentinelQuery(sentinels, place, options).masterAddress() } catch {
                problems.append(error)
                continue
            }
            // Several sentinels may name the same server that does not reply.
            guard tried.insert(master).inserted else { continue }
            do throws(BrokerError) { return try connect(to: master, namedBy: place) } catch {
                if error.code == .notPermitted { throw error }
                problems.append(error)
            }
        }
        // Another sentinel may accept what one rejects, so only all of them together are final.
        let code = problems.allSatisfy { $0.code == .notPermitted } ? BrokerError.Code.notPermitted : .notReachable
        let reasons = problems.map(\.message).joined(separator: "; ")
        throw BrokerError(code, "found no master named \(sentinels.master): " + reasons)
    }

    private func connect(to master: HostAndPort, namedBy place: HostAndPort) throws(BrokerError) -> HiredisContext {
        let master = address.server(master)
        var context = try HiredisContext.greeted(master, options)
        let role: RESPValue
        do throws(BrokerError) {
            role = try context.roundTrip(CommandWriter.command("ROLE").bytes, replies: 1)[0]
        } catch {
            throw BrokerError(.notReachable, "\(master) did not report its role: \(error.message)")
        }
        switch role {
        // If the user may not call ROLE, the first write shows whether the server is a master.
        case .error(let text) where ServerError(text).word == "NOPERM": return context
        case .error(let text):
            throw BrokerError(.notReachable, "\(master) did not report its role: \(ServerError(text).text)")
        default: break
        }
        guard role.elements?.first?.text == "master" else {
            throw BrokerError(.notReachable, "the sentinel \(place) names \(master), which is not a master")
        }
        return context
    }
}
