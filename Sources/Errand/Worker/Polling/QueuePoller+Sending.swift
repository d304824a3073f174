import Logging

/// Sends a poller's calls.
extension QueuePoller {
    /// Sends a call at once, and makes runs of the previous reply until its own reply arrives.
    func send(_ exchange: Exchange, digesting last: Digest?) async throws(BrokerError) -> ExchangeReply {
        guard let last else { return try await send(exchange) }
        let outcome = await withTaskGroup(of: Result<ExchangeReply, BrokerError>.self) { group in
            group.addEagerTask { [self] in
                do throws(BrokerError) { return .success(try await send(exchange)) } catch { return .failure(error) }
            }
            digest(last)
            return await group.next()
        }
        guard let outcome else { throw BrokerError(.closed, "the call was not made") }
        return try outcome.get()
    }

    /// Sends a call, and repeats it while its reply is lost; the call's number makes that safe.
    private func send(_ first: Exchange) async throws(BrokerError) -> ExchangeReply {
        var exchange = first
        var losses = 0
        var pause = Duration.milliseconds(20)
        var granted = exchange.wanted
        var isRefused = false
        while true {
            do throws(BrokerError) {
                let answer = try await workerSession.broker.exchange(exchange, on: queue)
                workerSession.failures.clear("call \(queue)")
                if isRefused {
                    workerSession.logger.notice("calls are taken again", metadata: ["job.queue": "\(queue)"])
                }
                let got = answer.claims.count
                workerSession.raise(
                    workerSession.budget.settle(index, wanted: granted, got: got, looked: exchange.wanted > 0)
                )
                return answer
            } catch {
                // Slots that wait for an unreachable queue would be lost to the others.
                workerSession.raise(workerSession.budget.suspend(index, wanted: granted))
                granted = 0
                if error.code == .notPermitted { workerSession.end(because: error) }
                if Self.isFinal(error) || mayLeave(exchange, because: error) { throw error }
                if workerSession.isLost || workerSession.mustLeave { throw error }
                // Lost calls are retried without a warning unless that lasts; a rejected call needs attention.
                let isLost = [.notReachable, .outcomeUnknown].contains(error.code)
                let lasts = workerSession.failures.note("call \(queue)")
                workerSession.logger.log(
                    level: lasts || !(isLost || isRefused) ? .warning : .debug,
                    isLost
                        ? "call not answered; it is made again until it is"
                        : "call refused; it is made again until it is taken",
                    metadata: ["job.queue": "\(queue)", "error": "\(error)"]
                )
                isRefused = isRefused || !isLost
                losses = error.code == .outcomeUnknown ? losses + 1 : 0
                if ClaimLimit.tells(losses: losses, wanted: exchange.wanted) {
                    losses = 0
                    if let answer = try await askForLess(&exchange, because: error) { return answer }
                }
            }
            await workerSession.pause(for: pause)
            pause = min(pause * 2, .seconds(2))
        }
    }

    /// Returns whether a repeated call would fail as well.
    private static func isFinal(_ error: BrokerError) -> Bool { [.sessionLost, .closed].contains(error.code) }

    /// Returns whether a stopping worker need not wait for the claims of this call: they end with its session. While
    /// another poller holds jobs the session lives on, and would keep these claims from other workers.
    func mayLeave(_ exchange: Exchange, because error: BrokerError) -> Bool {
        exchange.reports.isEmpty && workerSession.isDraining && workerSession.holdsNothing && !Self.isFinal(error)
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
