import Synchronization

/// How many jobs a worker may hold, and how its queues share them.
///
/// A worker holds as many jobs as it has slots and, when runs are short, as many more as it runs in about 20 ms, so
/// that its slots never wait for the broker and no job waits here long while another worker is idle.
package final class SlotBudget: Sendable {
    fileprivate struct Share {
        let weight: Double
        /// Jobs claimed so far by the share's weight: the share that is behind is served first.
        var passed = 0.0
        /// Whether the queue contends: it had work at the last look, or it is time to look again.
        var contends = true
        /// Whether it asked and got nothing because of others: it is told when that may have changed.
        var wasRefused = false
    }

    fileprivate struct State {
        var held = 0
        var reserved = 0
        var shares: [Share]
        var meanMicroseconds: Double?
    }

    fileprivate static let prefetchedMicroseconds = 20_000.0
    fileprivate static let prefetchedAtMost = 1000
    package static let claimsAtMost = 500

    let concurrency: Int
    private let state: Mutex<State>

    package init(concurrency: Int, weights: [Int]) {
        self.concurrency = concurrency
        state = Mutex(State(shares: weights.map { Share(weight: Double(max(1, $0))) }))
    }

    /// How many jobs the queue at `index` may ask for now, `limit` at the most, and how many of them would begin at once.
    ///
    /// Asking makes the queue a contender until a look finds it empty, so that a busy queue cannot keep it from
    /// looking.
    package func grant(to index: Int, atMost limit: Int = claimsAtMost) -> (wanted: Int, freeSlots: Int) {
        state.withLock { state in
            if !state.shares[index].contends { state.join(index) }
            let free = state.target(concurrency) - state.held - state.reserved
            let wanted = state.share(of: min(free, limit, Self.claimsAtMost), for: index)
            state.reserved += wanted
            // Counted at once, so that another queue that asks meanwhile is not measured against an old account.
            state.shares[index].passed += Double(wanted) / state.shares[index].weight
            state.shares[index].wasRefused = wanted == 0
            return (wanted, max(0, concurrency - state.held))
        }
    }

    /// The answer to a grant has come; `looked` is false when the broker was not asked after all.
    ///
    /// - Returns: the queues that were refused before and may ask again.
    package func settle(_ index: Int, wanted: Int, got: Int, looked: Bool) -> [Int] {
        state.withLock { state in
            state.reserved -= wanted
            state.held += got
            state.shares[index].passed -= Double(wanted - got) / state.shares[index].weight
            if looked { state.shares[index].contends = got > 0 }
            return got < wanted ? state.takeRefused(but: index) : []
        }
    }

    /// The broker does not answer for this queue: what was granted to it goes to others meanwhile.
    ///
    /// - Returns: the queues that were refused before and may ask again.
    func suspend(_ index: Int, wanted: Int) -> [Int] {
        state.withLock { state in
            state.reserved -= wanted
            state.shares[index].passed -= Double(wanted) / state.shares[index].weight
            state.shares[index].contends = false
            return state.takeRefused(but: index)
        }
    }

    /// Jobs have ended.
    ///
    /// - Returns: the queues that were refused before and may ask again.
    package func open(_ count: Int, by index: Int) -> [Int] {
        state.withLock { state in
            state.held -= count
            return state.takeRefused(but: index)
        }
    }

    /// Reports of jobs that had ended were not taken: they count as held again.
    func close(_ count: Int) { state.withLock { $0.held += count } }

    /// Whether more jobs are held than can run, so that reports may gather for a moment.
    var hasWaitingJobs: Bool { state.withLock { $0.held > concurrency } }

    /// Jobs waited in vain for a slot: whatever the last runs took, the present ones take long, so nothing is claimed
    /// ahead until short runs have shown otherwise.
    func stopClaimingAhead() {
        state.withLock { $0.meanMicroseconds = Self.prefetchedMicroseconds * 50 }
    }

    /// A run took this long.
    func note(_ elapsed: Duration) {
        let microseconds = elapsed / .microseconds(1)
        state.withLock { state in
            state.meanMicroseconds = state.meanMicroseconds.map { $0 * 0.95 + microseconds * 0.05 } ?? microseconds
        }
    }
}

extension SlotBudget.State {
    fileprivate func target(_ concurrency: Int) -> Int {
        guard let meanMicroseconds else { return concurrency }
        let prefetched = Double(concurrency) * SlotBudget.prefetchedMicroseconds / max(meanMicroseconds, 1)
        return concurrency + Int(min(prefetched, Double(SlotBudget.prefetchedAtMost)))
    }

    /// The part of `free` slots that falls to a queue while others have work too, when each slot goes to the queue that is furthest
    /// behind.
    ///
    /// The slots are not dealt out one by one: each of a queue's slots has its place in that order, which can be computed.
    fileprivate func share(of free: Int, for index: Int) -> Int {
        guard free > 0 else { return 0 }
        let others = shares.indices.filter { $0 != index && shares[$0].contends }
        guard !others.isEmpty else { return free }
        // How many slots it gets at least, and at most.
        var (least, most) = (0, free)
        while least < most {
            let middle = least + (most - least + 1) / 2
            if slots(before: middle, of: index, others: others, atMost: free) < free {
                least = middle
            } else {
                most = middle - 1
            }
        }
        return least
    }

    /// How many slots are dealt out before a queue gets its slot of this number, counted from 1; `limit` when it is more.
    private func slots(before number: Int, of index: Int, others: [Int], atMost limit: Int) -> Int {
        var count = number - 1
        let reached = shares[index].passed + Double(count) / shares[index].weight
        for other in others where count < limit {
            let behind = (reached - shares[other].passed) * shares[other].weight
            guard behind >= 0 else { continue }
            // Of queues that are as far behind, the first one is served first.
            let served = other < index ? behind.rounded(.down) + 1 : behind.rounded(.up)
            count += Int(min(served, Double(limit)))
        }
        return min(count, limit)
    }

    fileprivate mutating func takeRefused(but index: Int) -> [Int] {
        let refused = shares.indices.filter { $0 != index && shares[$0].wasRefused }
        for other in refused { shares[other].wasRefused = false }
        return refused
    }

    /// A queue that had no work does not get back what it left to others meanwhile.
    fileprivate mutating func join(_ index: Int) {
        let behind = shares.filter(\.contends).map(\.passed).min() ?? shares[index].passed
        shares[index].passed = max(shares[index].passed, behind)
        shares[index].contends = true
    }
}
