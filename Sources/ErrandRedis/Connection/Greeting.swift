import Errand

extension HiredisContext {
    /// Connects and sets the connection up in one round trip: AUTH and SELECT if the address requires them, and CLIENT
    /// SETNAME, whose refusal is ignored.
    ///
    /// Of a cluster, this is the first of its servers that accepts the connection; of sentinels, the master that they
    /// name.
    static func greeted(_ address: RedisAddress, _ options: ConnectionOptions) throws(BrokerError) -> HiredisContext {
        switch address.place {
        case .server(let place): return try greeted(address, at: place, options)
        case .cluster(let seeds):
            var problem = BrokerError(.notReachable, "\(address) names no server")
            for seed in seeds {
                do throws(BrokerError) { return try greeted(address.server(seed), options) } catch { problem = error }
            }
            throw problem
        case .sentinels(let sentinels): return try SentinelSearch(address, sentinels, options).connect()
        }
    }

    private static func greeted(
        _ address: RedisAddress,
        at place: RedisAddress.ServerPlace,
        _ options: ConnectionOptions
    ) throws(BrokerError) -> HiredisContext {
        var context = try HiredisContext(
            address,
            at: place,
            connectTimeout: options.connectTimeout,
            commandTimeout: options.commandTimeout
        )
        var words: [CommandWriter] = []
        if let password = address.password {
            words.append(address.user.map { .command("AUTH", $0, password) } ?? .command("AUTH", password))
        }
        if address.database != 0 { words.append(.command("SELECT", String(address.database))) }
        words.append(.command("CLIENT", "SETNAME", options.clientName))
        let replies: [RESPValue]
        do throws(BrokerError) {
            replies = try context.greet(words.flatMap(\.bytes), replies: words.count)
        } catch {
            // Only the greeting was sent, not the caller's request.
            throw BrokerError(
                .notReachable,
                "no greeting from \(address) (check that a Redis server listens there): \(error.message)"
            )
        }
        for (index, reply) in replies.enumerated() {
            guard case .error(let text) = reply else { continue }
            let refusal = ServerError(text)
            // The last reply concerns the name, which is only informative; the user may not call CLIENT, or the server
            // may lack it.
            if index == words.count - 1, refusal.isOfOneCommand { break }
            let problem = refusal.brokerError(at: address)
            throw problem.code == .outcomeUnknown ? BrokerError(.notReachable, problem.message) : problem
        }
        return context
    }
}
