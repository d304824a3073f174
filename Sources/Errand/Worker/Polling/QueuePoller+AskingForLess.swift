import Logging
import Synchronization

/// Handles replies that never arrive although the broker is reachable: a server closes the connection if a reply is
/// larger than its limit, and does so again after every repeated call.
extension QueuePoller {
    /// Jobs below this size do not make a server close a connection.
    private static let largeJob = 64 * 1024

    /// Releases the claims of the lost replies, and halves the number of jobs to ask for. A job whose reply is lost
    /// although it was claimed alone becomes dead, with the reason.
    ///
    /// - Returns: a reply in place of the lost one; `nil` if the call must be repeated.
    func askForLess(_ exchange: inout Exchange, because error: BrokerError) async throws(BrokerError) -> ExchangeReply?
    {
        // While claims of the previous reply are not runs yet, they cannot be distinguished from those of the lost one.
        guard state.withLock({ $0.unreadClaims == 0 }) else { return nil }
        do throws(BrokerError) {
            if exchange.wanted == 1, let answer = try await setAside(exchange, because: error) { return answer }
            while try await reconciliation(of: exchange.call).released > 0 {}
        } catch {
            if error.code == .sessionLost || error.code == .closed { throw error }
            context.logger.debug(
                "claims not released",
                metadata: ["job.queue": "\(queue)", "error": "\(error)"]
            )
            return nil
        }
        let wanted = exchange.wanted
        let (most, isLowest) = state.withLock { $0.claimLimit.lower(after: wanted) }
        exchange.wanted = most
        context.logger.log(
            level: isLowest ? .warning : .debug,
            """
            the broker's replies to a claim of up to \(wanted) jobs are lost repeatedly: claiming at most \(most) at a time. \
            The replies may be larger than it sends: set its client-output-buffer-limit to normal 0 0 0 (errand doctor \
            shows it), or push smaller jobs
            """,
            metadata: ["job.queue": "\(queue)", "error": "\(error)"]
        )
        return nil
    }

    private func setAside(_ exchange: Exchange, because error: BrokerError) async throws(BrokerError) -> ExchangeReply?
    {
        let known = Set(state.withLock(\.claims).map(\.token))
        let unheard = try await context.broker.claims(of: context.session, on: queue).filter {
            !known.contains($0.token)
        }
        guard let job = unheard.first, unheard.count == 1, job.bytes >= Self.largeJob else {
            context.logger.error(
                "the broker's replies to a claim of one job are lost repeatedly; retrying until one arrives",
                metadata: ["job.queue": "\(queue)", "error": "\(error)"]
            )
            return nil
        }
        let reason =
            "the broker could not send its \(job.bytes) bytes: it closed the connection each time (\(error)). "
            + "Its client-output-buffer-limit for normal clients may be too small"
        context.logger.error(
            "a job is set aside as dead: \(reason); raise the limit, and then errand job retry \(job.id)",
            metadata: ["job.queue": "\(queue)", "job.id": "\(job.id)"]
        )
        let report = OutcomeReport(id: job.id, token: job.token, verb: .unreadable, attempt: 1, error: reason)
        state.withLock { $0.setAside(report) }
        noteDiscarded(job.id)
        // The call was certainly carried out: it made this claim.
        return ExchangeReply(accepted: exchange.reports.map { _ in true }, claims: [], hasMore: true)
    }
}
