/// A poller's access to the slot budget of its worker. It wakes pollers that were refused before when slots may be free.
package struct SlotShare: Sendable {
    /// The budget that the worker's queues share.
    let budget: SlotBudget
    /// The index of the poller's queue.
    let index: Int
    private let wake: @Sendable ([Int]) -> Void

    /// Makes the access for the queue at `index`. `wake` is called with the indexes of queues that may ask again; it
    /// must not block, nor call the budget.
    package init(of budget: SlotBudget, at index: Int, wake: @escaping @Sendable ([Int]) -> Void) {
        (self.budget, self.index, self.wake) = (budget, index, wake)
    }

    func grant(atMost limit: Int, isBusy: Bool) -> (wanted: Int, freeSlots: Int) {
        budget.grant(to: index, atMost: limit, isBusy: isBusy)
    }

    /// Whether a slot is free. If none is, the queue is woken when that may have changed.
    var hasFreeSlot: Bool { budget.hasFreeSlot(for: index) }

    func settle(wanted: Int, got: Int, looked: Bool) {
        wakeUp(budget.settle(index, wanted: wanted, got: got, looked: looked))
    }

    func suspend(wanted: Int) { wakeUp(budget.suspend(index, wanted: wanted)) }

    func free(_ count: Int) { wakeUp(budget.open(count, by: index)) }

    func hold(_ count: Int) { budget.close(count) }

    private func wakeUp(_ refused: [Int]) { if !refused.isEmpty { wake(refused) } }
}
