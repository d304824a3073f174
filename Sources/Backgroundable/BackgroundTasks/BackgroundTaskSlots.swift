/// The current background tasks, in numbered slots that are reused.
///
/// Beginning and ending a task changes a few numbers and allocates nothing once there are enough slots. The upper half
/// of an identifier is the generation of its slot, so an old identifier does not match a later task in the slot.
struct BackgroundTaskSlots: ~Copyable {
    /// The values that the owner of a task passed. The caller releases them after unlocking, because that may run user
    /// code.
    struct Belongings {
        var name: String?
        var expirationHandler: (@Sendable () -> Void)?
        /// The queue that the task belongs to, if any. Expiration cancels its operations.
        var queue: BackgroundQueue?
    }

    private struct Slot {
        var belongings = Belongings()
        /// The number of times that the slot has been taken.
        var generation = 0
        /// The number of the task in the order of beginning, or 0 for a free slot.
        var order: UInt64 = 0
        /// The next free slot, if this one is free.
        var nextFree = BackgroundTaskSlots.none
    }

    private static let none = -1
    private static let indexBits = Int.bitWidth / 2
    private static let indexMask = (1 << indexBits) - 1
    /// A slot that has reached this generation is not used again.
    private static let lastGeneration = Int.max >> indexBits

    private var slots: [Slot] = []
    private var firstFree = BackgroundTaskSlots.none
    private var begun: UInt64 = 0

    /// The number of current tasks.
    private(set) var count = 0

    /// The names of the tasks, oldest first. Nil for tasks without a name.
    var names: [String?] {
        inOrder().map { slots[$0].belongings.name }
    }

    /// The queues of the tasks that belong to one, newest first.
    var queues: [BackgroundQueue] {
        inOrder().reversed().compactMap { slots[$0].belongings.queue }
    }

    /// The identifiers of the tasks, newest first.
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

    /// Frees the slot of a task. Returns nil if there is no such task.
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

    /// Takes the expiration handler of a current task. Returns it once.
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
