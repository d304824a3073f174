/// The background tasks that are under way, in numbered slots that are used again.
///
/// Beginning and ending move a few numbers and allocate nothing once there are enough slots. The upper half of an
/// identifier counts how often its slot was taken, so an old identifier does not fit the slot's next task.
struct BackgroundTaskSlots: ~Copyable {
    /// What the task's owner gave along. Whoever takes it out lets go of it after unlocking: that may run other
    /// people's code.
    struct Belongings {
        var name: String?
        var expirationHandler: (@Sendable () -> Void)?
        /// The queue that the task is for, if it is for one: expiration cancels what is in it.
        var queue: BackgroundQueue?
    }

    private struct Slot {
        var belongings = Belongings()
        /// How often the slot has been taken.
        var generation = 0
        /// The task's place in the order of beginning; 0 while the slot is free.
        var order: UInt64 = 0
        /// If the slot is free, the next free one.
        var nextFree = BackgroundTaskSlots.none
    }

    private static let none = -1
    private static let indexBits = Int.bitWidth / 2
    private static let indexMask = (1 << indexBits) - 1
    /// A slot that was taken that often is not used again.
    private static let lastGeneration = Int.max >> indexBits

    private var slots: [Slot] = []
    private var firstFree = BackgroundTaskSlots.none
    private var begun: UInt64 = 0

    /// How many tasks are under way.
    private(set) var count = 0

    /// The tasks' names, oldest first; nil for those without.
    var names: [String?] {
        inOrder().map { slots[$0].belongings.name }
    }

    /// The queues that tasks are for, newest first.
    var queues: [BackgroundQueue] {
        inOrder().reversed().compactMap { slots[$0].belongings.queue }
    }

    /// The identifiers, newest first.
    var newestFirst: [BackgroundTaskIdentifier] {
        inOrder().reversed().map { identifier($0) }
    }

    mutating func begin(_ belongings: Belongings) -> BackgroundTaskIdentifier {
        let index = freeSlot()
        begun &+= 1
        count += 1
        slots[index].belongings = belongings
        slots[index].generation += 1
        slots[index].order = begun
        return identifier(index)
    }

    /// Frees the task's slot; nil if there is no such task.
    mutating func end(_ identifier: BackgroundTaskIdentifier) -> Belongings? {
        guard let index = index(of: identifier) else { return nil }
        count -= 1
        slots[index].order = 0
        if slots[index].generation < BackgroundTaskSlots.lastGeneration {
            slots[index].nextFree = firstFree
            firstFree = index
        }
        var belongings = Belongings()
        swap(&belongings, &slots[index].belongings)
        return belongings
    }

    /// The handler of a task that is still there, once.
    mutating func takeExpirationHandler(_ identifier: BackgroundTaskIdentifier) -> (@Sendable () -> Void)? {
        guard let index = index(of: identifier) else { return nil }
        if let queue = slots[index].belongings.queue.take() { return { queue.expire() } }
        return slots[index].belongings.expirationHandler.take()
    }

    private mutating func freeSlot() -> Int {
        guard firstFree != BackgroundTaskSlots.none else {
            slots.append(Slot())
            return slots.count - 1
        }
        let index = firstFree
        firstFree = slots[index].nextFree
        return index
    }

    private func identifier(_ index: Int) -> BackgroundTaskIdentifier {
        BackgroundTaskIdentifier(rawValue: slots[index].generation << BackgroundTaskSlots.indexBits | index)
    }

    private func index(of identifier: BackgroundTaskIdentifier) -> Int? {
        let index = identifier.rawValue & BackgroundTaskSlots.indexMask
        guard index < slots.count, slots[index].order != 0, self.identifier(index) == identifier else { return nil }
        return index
    }

    private func inOrder() -> [Int] {
        slots.indices.filter { slots[$0].order != 0 }.sorted { slots[$0].order < slots[$1].order }
    }
}
