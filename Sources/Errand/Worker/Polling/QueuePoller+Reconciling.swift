import Logging
import Synchronization

/// Reconciles the poller's claims with the broker's.
extension QueuePoller {
    /// Compares the claims of the broker and of this worker. They may differ if the broker has returned with older data
    /// or has recovered a claim, or if a reply did not belong to its call.
    func reconcile(_ call: Int) async throws(BrokerError) {
        // The broker releases large numbers in parts, and the later parts must not wait for further beats.
        while try await reconcileSome(call), !context.phase.isLost {}
    }

    /// Returns whether there may be more.
    private func reconcileSome(_ call: Int) async throws(BrokerError) -> Bool {
        do throws(BrokerError) {
            let answer = try await reconciliation(of: call)
            guard answer.released > 0 || !answer.lost.isEmpty else { return false }
            context.logger.info(
                "claims reconciled with the broker",
                metadata: [
                    "job.queue": "\(queue)", "unknown": "\(answer.released)", "lost": "\(answer.lost.count)",
                ]
            )
            for id in answer.lost { state.withLock { $0.runs[id] }?.stop(.lost) }
            return answer.released > 0
        } catch {
            if error.code == .sessionLost || error.code == .closed { throw error }
            context.logger.debug("not reconciled", metadata: ["job.queue": "\(queue)", "error": "\(error)"])
            return false
        }
    }

    /// Lets the broker release the claims of this session that the worker does not have.
    func reconciliation(of call: Int) async throws(BrokerError) -> Reconciliation {
        let runs = state.withLock { $0.claimsToReconcile() }
        return try await context.broker.reconcile(context.session, call: call, runs: runs, on: queue)
    }
}
