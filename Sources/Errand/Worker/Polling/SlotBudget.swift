import Synchronization

/// The number of jobs that a worker may hold, and their division among its queues.
///
/// A worker holds as many jobs as it has slots and, if runs are short, as many more as it runs in about 20 ms. So its
/// slots do not wait for the broker, and no job waits here for long while another worker is idle.
package final class SlotBudget: Sendable {
    fileprivate struct Share {
        let weight: Double
        /// The number of claimed jobs divided by the weight: the queue with the lowest value is served first.
        var passed = 0.0
        /// Whether the queue contends for slots: the last call found work, or it asks again.
        var contends = true
        /// Whether it asked and got nothing because of others. It is woken when that may have changed.
        var wasRefused = false
        /// Whether it has jobs to run and could have had a few more. It is woken when a slot is free.
        var awaitsSlot = false
    }

    fileprivate struct State {
        var held = 0
        var reserved = 0
        var shares: [Share]
        var meanMicroseconds: Double?
    }

    fileprivate static let prefetchedMicroseconds = 20_000.0
    fileprivate static let prefetchedAtMost = 1000
    /// A worker of many queues claims more jobs ahead, so that a call for one of them is worth its cost.
    fileprivate static let prefetchedPerQueue = 40
    fileprivate static let prefetchedOfQueuesAtMost = 4000
    fileprivate static let leastOfBusyQueue = 32
    private static let longestGathering = Duration.milliseconds(50)
    package static let claimsAtMost = 500

    let concurrency: Int
    private let state: Mutex<State>

    package init(concurrency: Int, weights: [Int]) {
        self.concurrency = concurrency
        state = Mutex(State(shares: weights.map { Share(weight: Double(max(1, $0))) }))
    }

    /// Returns how many jobs the queue at `index` may ask for now, at most `limit`, and how many of them would begin at
    /// once.
    ///
    /// The queue then contends until a call finds it empty, so that a busy queue cannot keep it from asking.
    ///
    /// A queue that `isBusy`, which has jobs that have not ended, gets none instead of a few while no slot is free. It asks
    /// again after these jobs, or when a slot is free.
    package func grant(
        to index: Int,
        atMost limit: Int = claimsAtMost,
        isBusy: Bool = false
    ) -> (wanted: Int, freeSlots: Int) {
        state.withLock { state in
            if !state.shares[index].contends { state.join(index) }
            let free = state.target(concurrency) - state.held - state.reserved
            // Other queues may have asked for the same slots.
            let slots = max(0, concurrency - state.held - state.reserved)
            let wanted = state.share(of: min(free, limit, Self.claimsAtMost), for: index, concurrency)
            state.shares[index].awaitsSlot =
                isBusy && slots == 0 && wanted < min(limit, state.worthACall(of: index, concurrency))
            if state.shares[index].awaitsSlot { return (0, 0) }
            state.reserved += wanted
            // Counted immediately, so that the next queue that asks is compared with current numbers.
            state.shares[index].passed += Double(wanted) / state.shares[index].weight
            state.shares[index].wasRefused = wanted == 0
            return (wanted, slots)
        }
    }

    /// Returns whether fewer jobs are held than can run. If not, the queue at `index` counts as refused.
    func hasFreeSlot(for index: Int) -> Bool {
        state.withLock { state in
            let isFree = state.held < concurrency
            if !isFree { state.shares[index].wasRefused = true }
            return isFree
        }
    }

    /// Settles a grant after the reply has arrived; `looked` is false if the broker was not asked.
    ///
    /// - Returns: the queues that were refused before and may ask again.
    package func settle(_ index: Int, wanted: Int, got: Int, looked: Bool) -> [Int] {
        state.withLock { state in
            state.reserved -= wanted
            state.held += got
            state.shares[index].passed -= Double(wanted - got) / state.shares[index].weight
            if looked { state.shares[index].contends = got > 0 }
            return got < wanted ? state.takeRefused(but: index, concurrency) : []
        }
    }

    /// Passes a grant on to other queues while the broker does not reply for this one.
    ///
    /// - Returns: the queues that were refused before and may ask again.
    func suspend(_ index: Int, wanted: Int) -> [Int] {
        state.withLock { state in
            state.reserved -= wanted
            state.shares[index].passed -= Double(wanted) / state.shares[index].weight
            state.shares[index].contends = false
            return state.takeRefused(but: index, concurrency)
        }
    }

    /// Frees the slots of ended jobs.
    ///
    /// - Returns: the queues that were refused before and may ask again.
    package func open(_ count: Int, by index: Int) -> [Int] {
        state.withLock { state in
            state.held -= count
            return state.takeRefused(but: index, concurrency)
        }
    }

    /// Counts ended jobs as held again because their reports were not accepted.
    func close(_ count: Int) { state.withLock { $0.held += count } }

    /// Whether no job is held: none runs, and no outcome waits to be reported.
    var isEmpty: Bool { state.withLock { $0.held == 0 } }

    /// How long a queue may gather reports for one call; `nil` if no more jobs are held than can run.
    ///
    /// It is a millisecond for each queue with work, because in that time the worker runs jobs of all of them.
    var gatheringTime: Duration? {
        state.withLock { state in
            guard state.held > concurrency else { return nil }
            return min(.milliseconds(max(1, state.contending)), Self.longestGathering)
        }
    }

    /// Stops claiming ahead because jobs have waited in vain for a slot: current runs take long, whatever the previous
    /// ones took. Short runs resume it.
    func stopClaimingAhead() {
        state.withLock { $0.meanMicroseconds = Self.prefetchedMicroseconds * 50 }
    }

    /// Notes the duration of a run.
    package func note(_ elapsed: Duration) {
        let microseconds = elapsed / .microseconds(1)
        state.withLock { state in
            state.meanMicroseconds = state.meanMicroseconds.map { $0 * 0.95 + microseconds * 0.05 } ?? microseconds
        }
    }
}

extension SlotBudget.State {
    /// The number of queues with work.
    fileprivate var contending: Int { shares.count(where: \.contends) }

    private var mostPrefetched: Int {
        let ofQueues = min(contending * SlotBudget.prefetchedPerQueue, SlotBudget.prefetchedOfQueuesAtMost)
        return max(SlotBudget.prefetchedAtMost, ofQueues)
    }

    fileprivate func target(_ concurrency: Int) -> Int {
        guard let meanMicroseconds else { return concurrency }
        let prefetched = Double(concurrency) * SlotBudget.prefetchedMicroseconds / max(meanMicroseconds, 1)
        return concurrency + Int(min(prefetched, Double(mostPrefetched)))
    }

    /// Returns a queue's share of `free` slots while others have work, too, if each slot goes to the queue that is
    /// furthest behind.
    ///
    /// The slots are not dealt out one by one: the position of each of a queue's slots in that order can be computed.
    fileprivate func share(of free: Int, for index: Int, _ concurrency: Int) -> Int {
        guard free > 0 else { return 0 }
        let others = shares.indices.filter { $0 != index && shares[$0].contends }
        guard !others.isEmpty else { return free }
        return max(exactShare(of: free, for: index, others), min(free, lead(of: index, before: others, concurrency)))
    }

    /// Returns how many jobs a queue may claim before it is further ahead of the last one than its part of the jobs that
    /// are claimed ahead. Calls for many queues would otherwise be for one or two jobs each.
    ///
    /// This is the quantum of deficit round robin (Shreedhar and Varghese, 1995).
    private func lead(of index: Int, before others: [Int], _ concurrency: Int) -> Int {
        let last = others.reduce(shares[index].passed) { min($0, shares[$1].passed) }
        return max(0, Int((last + quantum(concurrency) - shares[index].passed) * shares[index].weight))
    }

    /// The part of the jobs claimed ahead that a queue with work has for each unit of its weight.
    private func quantum(_ concurrency: Int) -> Double {
        let weights = shares.reduce(0) { $1.contends ? $0 + $1.weight : $0 }
        return Double(target(concurrency) - concurrency) / max(1, weights)
    }

    /// The number of jobs that is worth a call for one of several queues while it has others to run: its part.
    fileprivate func worthACall(of index: Int, _ concurrency: Int) -> Int {
        guard contending > 1 else { return 1 }
        return min(SlotBudget.leastOfBusyQueue, Int(quantum(concurrency) * shares[index].weight))
    }

    private func exactShare(of free: Int, for index: Int, _ others: [Int]) -> Int {
        // The minimum and maximum number of slots.
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

    /// Returns how many slots are dealt out before a queue gets its `number`-th slot, at most `limit`.
    private func slots(before number: Int, of index: Int, others: [Int], atMost limit: Int) -> Int {
        var count = number - 1
        let reached = shares[index].passed + Double(count) / shares[index].weight
        for other in others where count < limit {
            let behind = (reached - shares[other].passed) * shares[other].weight
            guard behind >= 0 else { continue }
            // If two queues are equally far behind, the first one is served first.
            let served = other < index ? behind.rounded(.down) + 1 : behind.rounded(.up)
            count += Int(min(served, Double(limit)))
        }
        return min(count, limit)
    }

    fileprivate mutating func takeRefused(but index: Int, _ concurrency: Int) -> [Int] {
        let hasSlot = held + reserved < concurrency
        let refused = shares.indices.filter {
            $0 != index && (shares[$0].wasRefused || (hasSlot && shares[$0].awaitsSlot))
        }
        for other in refused { (shares[other].wasRefused, shares[other].awaitsSlot) = (false, false) }
        return refused
    }

    /// Lets a queue contend again. It does not regain what others used while it had no work.
    fileprivate mutating func join(_ index: Int) {
        let behind = shares.filter(\.contends).map(\.passed).min() ?? shares[index].passed
        shares[index].passed = max(shares[index].passed, behind)
        shares[index].contends = true
    }
}
