import Logging
import Synchronization

/// How a poller's account of its claims and the broker's are brought together.
extension QueuePoller {
    /// A beat has told how many claims the broker keeps for this session.
    func note(beat claims: Int) {
        let isInDoubt = held.withLock { held in
            held.account.note(beat: claims, known: held.known)
            return held.account.isInDoubt
        }
        if isInDoubt { wake() }
    }

    /// The broker's account and this worker's may differ: the broker came back with older data, took a claim away, or gave one in an answer
    /// that cannot have been its own.
    func reconcile(_ call: Int) async throws(BrokerError) {
        // What is large comes back in parts, of which the last are not to wait for another doubt.
        while try await reconcileSome(call), !workerSession.isLost {}
    }

    /// Answers whether there may be more.
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
