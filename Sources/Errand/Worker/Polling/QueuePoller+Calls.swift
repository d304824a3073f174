import ErrandText
import Logging
import Synchronization

/// Sends a poller's calls.
extension QueuePoller {
    /// Sends a call at once, and makes runs of the previous reply until its own reply arrives.
    ///
    /// - Returns: the reply; `nil` if a stopping worker need not wait for it.
    func send(_ exchange: Exchange, running last: UnreadReply?) async throws(BrokerError) -> ExchangeReply? {
        guard let last else { return try await send(exchange) }
        let outcome = await withTaskGroup(of: Result<ExchangeReply?, BrokerError>.self) { group in
            group.addEagerTask { [self] in
                do throws(BrokerError) { return .success(try await send(exchange)) } catch { return .failure(error) }
            }
            run(last)
            return await group.next()
        }
        guard let outcome else { throw BrokerError(.closed, "the call was not sent, because the worker stops") }
        return try outcome.get()
    }

    /// Sends a call, and repeats it while its reply is lost; the call's number makes that safe.
    private func send(_ first: Exchange) async throws(BrokerError) -> ExchangeReply? {
        var exchange = first
        var failures = CallFailures()
        while true {
            do throws(BrokerError) {
                let reply = try await context.broker.exchange(exchange, on: queue)
                noteReply(wasRefused: failures.isRefused)
                return reply
            } catch {
                state.withLock { $0.unanswered() }
                if error.code == .notPermitted { context.refused(because: error) }
                if mayLeave(exchange, because: error) { return nil }
                if Self.isFinal(error) || context.phase.isLost || context.phase.mustLeave { throw error }
                log(error, isFirstRefusal: failures.note(error))
                if failures.suggestLargeReply(wanted: exchange.wanted),
                    let reply = try await askForLess(&exchange, because: error)
                {
                    return reply
                }
            }
            await Signal().wait(for: failures.nextPause())
        }
    }

    /// Logs that a call succeeds after failures that were logged.
    private func noteReply(wasRefused: Bool) {
        let failed = context.failures.clear("call \(queue)")
        guard wasRefused || failed != nil else { return }
        var metadata: Logger.Metadata = ["job.queue": "\(queue)"]
        if let failed { metadata["after"] = "\(TimeSpanText.rounded(Int64(failed.wholeMilliseconds)))" }
        context.logger.notice("the server accepts calls again", metadata: metadata)
    }

    /// Logs a failed call. Lost calls are retried without a warning unless that lasts; a rejected call needs attention.
    private func log(_ error: BrokerError, isFirstRefusal: Bool) {
        let lasts = context.failures.note("call \(queue)")
        context.logger.log(
            level: lasts || isFirstRefusal ? .warning : .debug,
            CallFailures.isLoss(error)
                ? "no reply to the call; retrying"
                : "the server refused the call; retrying",
            metadata: ["job.queue": "\(queue)", "error": "\(error)"]
        )
    }

    /// Returns whether a repeated call would fail as well.
    private static func isFinal(_ error: BrokerError) -> Bool { [.sessionLost, .closed].contains(error.code) }

    /// Returns whether a stopping worker need not wait for the claims of this call: they end with its session. While
    /// another poller holds jobs the session lives on, and would keep these claims from other workers.
    private func mayLeave(_ exchange: Exchange, because error: BrokerError) -> Bool {
        exchange.reports.isEmpty && context.phase.isDraining && slots.budget.isEmpty && !Self.isFinal(error)
    }
}

extension TaskGroup {
    /// Adds a task that begins on this thread if the system supports that, so that its call does not wait for a free
    /// thread.
    fileprivate mutating func addEagerTask(_ operation: sending @escaping @isolated(any) () async -> ChildTaskResult) {
        if #available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *) {
            addImmediateTask(operation: operation)
        } else {
            addTask(operation: operation)
        }
    }
}
