import Synchronization

/// The life of an asynchronous operation in one atomic word.
///
/// How it ends and whether it has started are independent: an operation may be cancelled before it starts, but
/// Foundation's queues let it leave only after they started it. So the two ways meet at the end: the one who decides
/// the ending *tells* the owner, the one who starts it *opens* it, and whoever comes second *closes* it.
///
/// An operation that has ``Attachments`` is *attended*: its finish is held back until its observers know. That they
/// exist is a fact like the others, so whoever changes the state learns of them in the same step, and those who attach
/// something learn what they came too late for.
struct AsyncOperationState: ~Copyable {
    /// A set of facts, each of which becomes true once; only `inClosure`, `reserved` and `rung` become false again.
    struct Facts: OptionSet {
        let rawValue: UInt32

        /// Somebody has begun to start it.
        static let claimed = Facts(rawValue: 1 << 2)
        /// It has started: it may run, or it may leave.
        static let opened = Facts(rawValue: 1 << 3)
        /// The owner has been told of the ending.
        static let told = Facts(rawValue: 1 << 4)
        /// Its closure's call has not returned yet.
        static let inClosure = Facts(rawValue: 1 << 5)
        /// It was opened without having ended: its closure was called.
        static let ran = Facts(rawValue: 1 << 6)
        /// Somebody attached something before it could finish.
        static let attended = Facts(rawValue: 1 << 7)
        /// Those who attend have been told of the end, or need not be waited for.
        static let announced = Facts(rawValue: 1 << 8)

        /// It depends, or did, on other operations.
        static let dependent = Facts(rawValue: 1 << 9)
        /// It was seen to be ready, and somebody makes sure that its queue knows.
        static let rung = Facts(rawValue: 1 << 10)

        /// Its cancellation is decided, and whoever calls `cancel()` next carries it out.
        static let reserved = Facts(rawValue: 1 << 11)
        /// It was cancelled or timed out while its closure ran.
        static let overran = Facts(rawValue: 1 << 12)
        /// The closure of an operation that overran has returned, and the thread needs nothing of the operation any more.
        static let returned = Facts(rawValue: 1 << 13)
        /// Its closure was called, or the task that stands for it was begun.
        static let called = Facts(rawValue: 1 << 17)
        /// Its work goes on in a task when the closure's call has returned.
        static let inTask = Facts(rawValue: 1 << 18)

        /// Its end counts in its queue's progress.
        static let counted = Facts(rawValue: 1 << 14)

        /// A queue, or the caller of `isReady`, has found it waiting for other operations.
        static let looked = Facts(rawValue: 1 << 15)
        /// It no longer depends on an operation, which Foundation goes on counting.
        static let unbound = Facts(rawValue: 1 << 16)

        /// Somebody gave it a completion block.
        static let completes = Facts(rawValue: 1 << 19)
        /// It was added to a background queue or to a group, or is about to be.
        static let enqueued = Facts(rawValue: 1 << 20)
        /// It was asked whether it is ready, before it ended: as every queue does that it is added to, and Foundation when the
        /// last of its dependencies has finished.
        static let asked = Facts(rawValue: 1 << 21)

        private static let endingMask: UInt32 = 0b11

        init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        init(_ ending: AsyncOperationEnding) {
            rawValue = UInt32(ending.rawValue)
        }

        var ending: AsyncOperationEnding? {
            AsyncOperationEnding(rawValue: UInt8(truncatingIfNeeded: rawValue & Facts.endingMask))
        }

        /// Whether the closure may be called: the operation runs, and the closure has not been called yet.
        var mayCall: Bool {
            contains(.ran) && !contains(.called) && ending == nil
        }

        var isExecuting: Bool {
            contains(.opened) && !isFinished
        }

        /// Whether it was started or, by all appearances, added to a queue.
        var isUsed: Bool {
            !isDisjoint(with: [.enqueued, .asked, .claimed])
        }

        /// Whether it was started or, by what is certain enough, added to a queue: one with dependencies may have been asked
        /// because they finished.
        var isTaken: Bool {
            !isDisjoint(with: [.enqueued, .looked, .claimed]) || contains(.asked) && !contains(.dependent)
        }

        /// Whether nothing but the last notices is left to do.
        var isClosing: Bool {
            contains([.opened, .told])
        }

        var isFinished: Bool {
            isClosing && (!contains(.attended) || contains(.announced))
        }

        /// Whether the closure still runs although the operation was cancelled or timed out.
        var isOverrun: Bool {
            contains([.overran, .inClosure])
        }

        /// The facts once the operation ends, if that is still open.
        fileprivate func deciding(_ ending: AsyncOperationEnding) -> Facts {
            guard self.ending == nil else { return self }
            let overruns = ending != .finished && contains(.inClosure)
            return union(overruns ? [Facts(ending), .overran] : Facts(ending))
        }
    }

    private let bits = Atomic<UInt32>(0)

    /// What is true now.
    var facts: Facts {
        Facts(rawValue: bits.load(ordering: .acquiring))
    }

    /// True for the one caller who may start the operation.
    func claim() -> Bool {
        !add(.claimed).contains(.claimed)
    }

    /// Notes that it is added to a queue. True for the first caller, unless it was started before.
    @discardableResult
    func enqueue() -> Bool {
        !add(.enqueued).isTaken
    }

    /// Notes that it was asked whether it is ready.
    func ask() {
        _ = update { $0.ending == nil ? $0.union(.asked) : $0 }
    }

    /// Opens the operation. Returns the facts before: if there is an ending among them the closure must not run.
    ///
    /// - Parameter isCounted: Whether its end counts in its queue's progress, if it runs.
    func open(isCounted: Bool = false) -> Facts {
        let running: Facts = isCounted ? [.opened, .inClosure, .ran, .counted] : [.opened, .inClosure, .ran]
        return update { $0.union($0.ending == nil ? running : .opened) }
    }

    /// Returns true to exactly one caller, while the operation runs: that caller calls the closure.
    func call() -> Bool {
        let before = update { $0.mayCall ? $0.union(.called) : $0 }
        return before.mayCall
    }

    /// Notes that there is a completion block.
    func complete() {
        _ = add(.completes)
    }

    /// Notes that a task goes on with the work.
    func beginTask() {
        _ = add(.inTask)
    }

    /// Decides the ending. Returns the facts before, or nil if it was decided already.
    func decide(_ ending: AsyncOperationEnding) -> Facts? {
        let before = update { $0.deciding(ending) }
        return before.ending == nil ? before : nil
    }

    /// Decides that an operation which has not started is cancelled, for a caller that carries it out a little later: from
    /// now on it cannot start. True if this call decided it.
    func reserveCancellation() -> Bool {
        let before = update { facts in
            facts.ending == nil && !facts.contains(.opened) ? facts.deciding(.cancelled).union(.reserved) : facts
        }
        return before.ending == nil && !before.contains(.opened)
    }

    /// Returns the facts before for the one caller that has to carry out a reserved cancellation.
    func takeReservation() -> Facts? {
        let before = update { $0.subtracting(.reserved) }
        return before.contains(.reserved) ? before : nil
    }

    /// Notes that the closure of an operation that overran has returned. Returns the facts before: if the owner had been
    /// told, nobody else needs what the operation holds.
    func noteReturn() -> Facts {
        add(.returned)
    }

    /// Notes that the owner knows. Returns the facts before: if it had been opened the caller closes it.
    func tell() -> Facts {
        add(.told)
    }

    /// Notes that something is attached. Returns the facts before: if the operation was closing then, nobody else
    /// will look at what is attached.
    func attend() -> Facts {
        update { $0.isClosing ? $0 : $0.union(.attended) }
    }

    /// Notes that it depends on another operation: it will be ready anew when that has finished.
    func depend() {
        if add(.dependent).contains(.rung) { _ = update { $0.subtracting(.rung) } }
    }

    /// Notes that it no longer depends on another operation. Returns whether it is the first.
    func unbind() -> Bool {
        !add(.unbound).contains(.unbound)
    }

    /// Notes that a queue has looked whether it is ready.
    func look() {
        if !facts.contains(.looked) { _ = add(.looked) }
    }

    /// True for the one caller who has to make sure that the queue knows that it is ready.
    func ring() -> Bool {
        !add(.rung).contains(.rung)
    }

    /// The facts, in one order with every change: whoever changes them later sees what this thread did before.
    func confirm() -> Facts {
        add([])
    }

    /// Lets an attended operation be finished.
    func announce() {
        _ = add(.announced)
    }

    /// Notes that the closure's call returned. Returns the facts before.
    func leaveClosure() -> Facts {
        let (before, _) = bits.bitwiseAnd(~Facts.inClosure.rawValue, ordering: .acquiringAndReleasing)
        return Facts(rawValue: before)
    }

    private func add(_ facts: Facts) -> Facts {
        Facts(rawValue: bits.bitwiseOr(facts.rawValue, ordering: .acquiringAndReleasing).oldValue)
    }

    private func update(_ change: (Facts) -> Facts) -> Facts {
        var seen = bits.load(ordering: .acquiring)
        while true {
            let (exchanged, original) = bits.weakCompareExchange(
                expected: seen,
                desired: change(Facts(rawValue: seen)).rawValue,
                ordering: .acquiringAndReleasing
            )
            if exchanged { return Facts(rawValue: seen) }
            seen = original
        }
    }
}
