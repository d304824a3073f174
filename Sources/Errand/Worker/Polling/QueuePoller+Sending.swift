import Logging

/// How a poller makes its calls.
extension QueuePoller {
    /// Sends a call at once, and digests what is left of the one before until the answer comes.
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

    /// Sends a call, the same one again for as long as its answer is lost: its number makes that safe.
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
                // Slots that wait for a queue in trouble would be lost to the others.
                workerSession.raise(workerSession.budget.suspend(index, wanted: granted))
                granted = 0
                if error.code == .notPermitted { workerSession.end(because: error) }
                if Self.isFinal(error) || mayLeave(exchange, because: error) { throw error }
                if workerSession.isLost || workerSession.mustLeave { throw error }
                // What was lost on its way is made good in silence, unless that lasts; what the broker does not want, people must
                // put right.
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

    /// What asking again does not change.
    private static func isFinal(_ error: BrokerError) -> Bool { [.sessionLost, .closed].contains(error.code) }

    /// A worker that is to leave need not hear what it could have claimed: its session ends, and with it these claims. While
    /// another poller holds jobs the session lives on, and would keep them from everybody.
    func mayLeave(_ exchange: Exchange, because error: BrokerError) -> Bool {
        exchange.reports.isEmpty && workerSession.isDraining && workerSession.holdsNothing && !Self.isFinal(error)
    }
}

extension TaskGroup {
    /// Adds a task that begins on this thread, where that can be had: what it sends need not wait for a free one.
    fileprivate mutating func addEagerTask(_ operation: sending @escaping @isolated(any) () async -> ChildTaskResult) {
        if #available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *) {
            addImmediateTask(operation: operation)
        } else {
            addTask(operation: operation)
        }
    }
}
