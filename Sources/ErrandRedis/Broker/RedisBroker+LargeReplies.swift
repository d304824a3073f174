import Errand

extension RedisBroker {
    /// Reads a page, and half as many members each time the connection ends before the reply: a server closes the
    /// connection if a reply exceeds its client-output-buffer-limit, and would do so each time.
    ///
    /// - Throws: The error of the last attempt. A timeout is no reason to request less.
    func shrinking<Page>(
        from count: Int,
        _ read: (_ count: Int) async throws(BrokerError) -> Page
    ) async throws(BrokerError) -> Page {
        var count = count
        while true {
            let began = ContinuousClock.now
            do throws(BrokerError) { return try await read(count) } catch {
                guard error.code == .outcomeUnknown, .now - began < options.commandTimeout else { throw error }
                guard count > 1 else {
                    throw BrokerError(
                        .outcomeUnknown,
                        "\(error). If that repeats, the reply is larger than \(address) sends: "
                            + "set its client-output-buffer-limit to normal 0 0 0"
                    )
                }
                count /= 2
            }
        }
    }
}
