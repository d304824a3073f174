/// Reconcile: compares a session's claims with the runs of its worker.
extension MemoryQueue {
    package mutating func reconcile(
        _ id: String,
        call: Int,
        runs: [(id: String, token: Token)]
    ) throws(BrokerError) -> Reconciliation {
        guard let session = sessions[id] else { throw lost(id) }
        if session.lastReplied > call {
            throw BrokerError(.refused, "this call is older than the last exchange, so it is ignored")
        }
        let lost = runs.filter { session.claims[$0.id]?.token != $0.token }.map(\.id)
        let known = Dictionary(grouping: runs) { $0.id }
        let strange = session.claimsInOrder.filter { held in
            !(known[held.id] ?? []).contains { $0.token == held.claim.token }
        }
        for held in strange.reversed() {
            guard let job = jobs[held.id] else { continue }
            freeSlots(of: job, released: held.claim)
            if endClaim(job, of: id, as: .released) != nil { requeue(job.id) }
        }
        return Reconciliation(released: strange.count, lost: lost)
    }
}
