import Logging
import Synchronization

/// Reconciles the poller's claims with the broker's.
extension QueuePoller {
    /// Notes the number of claims that the broker has for this session, from a beat.
    func note(beat claims: Int) {
        let isInDoubt = held.withLock { held in
            held.account.note(beat: claims, known: held.known)
            return held.account.isInDoubt
        }
        if isInDoubt { wake() }
    }

    /// Compares the claims of the broker and of this worker. They may differ if the broker has returned with older data
    /// or has recovered a claim, or if a reply did not belong to its call.
    func reconcile(_ call: Int) async throws(BrokerError) {
        // The broker releases large numbers in parts, and the later parts must not wait for further beats.
        while try await reconcileSome(call), !workerSession.isLost {}
    }

    /// Returns whether there may be more.
    private func reconcileSome(_ call: Int) async throws(BrokerError) -> Bool {
        let runs = held.withLock { held in
            held.account.reset(known: held.known)
            return held.claims()
        }
        do throws(BrokerError) {
            let answer = try await workerSession.broker.reconcile(
                workerSession.session,
                call: call,
                runs: runs,
                on: queue
            )
            guard answer.released > 0 || !answer.lost.isEmpty else { return false }
            workerSession.logger.info(
                "claims reconciled with the broker",
                metadata: [
                    "job.queue": "\(queue)", "unknown": "\(answer.released)", "lost": "\(answer.lost.count)",
                ]
            )
            for id in answer.lost { held.withLock { $0.runs[id] }?.stop(.lost) }
            return answer.released > 0
        } catch {
            if error.code == .sessionLost || error.code == .closed { throw error }
            workerSession.logger.debug("not reconciled", metadata: ["job.queue": "\(queue)", "error": "\(error)"])
            return false
        }
    }
}
