import Errand

extension HiredisContext {
    /// Connects and says who we are: AUTH, SELECT and CLIENT SETNAME, in one round trip.
    static func greeted(_ address: RedisAddress, _ options: ConnectionOptions) throws(BrokerError) -> HiredisContext {
        var context = try HiredisContext(
            address,
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
            // Only the greeting was sent: whatever the caller wants to send was not.
            throw BrokerError(.notReachable, "no greeting from \(address): \(error.message)")
        }
        for case .error(let text) in replies {
            let problem = ServerError(text).brokerError(at: address)
            throw problem.code == .outcomeUnknown ? BrokerError(.notReachable, problem.message) : problem
        }
        return context
    }
}
