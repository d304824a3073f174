import Synchronization

/// The life of an asynchronous operation in one atomic word.
///
/// The ending and the start are independent: an operation may be cancelled before it starts, but a Foundation queue
/// removes it only after starting it. So there are two paths. The thread that decides the ending reports it (`tell`),
/// the thread that starts the operation opens it (`open`), and the later of the two closes it.
///
/// The finish of an operation with ``Attachments`` is delayed until its observers have been notified. The existence of
/// attachments is part of the same word. A thread that changes the state therefore sees them in the same step, and a
/// thread that attaches something sees which events it has missed.
struct AsyncOperationState: ~Copyable {
    /// A set of facts. Each becomes true once; only `inClosure`, `reserved` and `readyNotified` become false again.
    struct Facts: OptionSet {
        let rawValue: UInt32

        /// A thread has begun to start the operation.
        static let claimed = Facts(rawValue: 1 << 2)
        /// The operation has started: it may run, or leave its queue.
        static let opened = Facts(rawValue: 1 << 3)
        /// The ending has been carried out and reported.
        static let endReported = Facts(rawValue: 1 << 4)
        /// The call of the closure has not returned yet.
        static let inClosure = Facts(rawValue: 1 << 5)
        /// The operation had not ended when it was opened, so its work began.
        static let ran = Facts(rawValue: 1 << 6)
        /// An attachment was added before the operation could finish.
        static let hasAttachments = Facts(rawValue: 1 << 7)
        /// The observers have been notified of the end, or need not be waited for.
        static let announced = Facts(rawValue: 1 << 8)

        /// The operation depends, or depended, on other operations.
        static let dependent = Facts(rawValue: 1 << 9)
        /// The operation was seen as ready, and one thread makes sure that its queue notices.
        static let readyNotified = Facts(rawValue: 1 << 10)

        /// The cancellation is decided, and the next call of `cancel()` carries it out.
        static let reserved = Facts(rawValue: 1 << 11)
        /// The operation was cancelled or timed out while its closure ran.
        static let overran = Facts(rawValue: 1 << 12)
        /// The closure of an overrun operation has returned, and its thread no longer uses the operation.
        static let returned = Facts(rawValue: 1 << 13)
        /// The closure was called, or the task that does the work was created.
        static let called = Facts(rawValue: 1 << 17)
        /// The work continues in a task after the closure's call has returned.
        static let inTask = Facts(rawValue: 1 << 18)

        /// The end of the operation counts in its queue's progress.
        static let counted = Facts(rawValue: 1 << 14)

        /// A queue, or another reader of `isReady`, has found the operation waiting for others.
        static let looked = Facts(rawValue: 1 << 15)
        /// A dependency was removed, which Foundation on Linux still counts.
        static let unbound = Facts(rawValue: 1 << 16)

        /// The operation was added to a background queue or to a group, or is about to be.
        static let enqueued = Facts(rawValue: 1 << 20)
        /// The background queue of the operation has registered it.
        static let registered = Facts(rawValue: 1 << 19)
        /// `isReady` was read before the operation ended. Every queue reads it when the operation is added, and
        /// Foundation reads it when the last dependency has finished.
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

        /// Whether the closure may be called: the operation runs, and its closure has not been called yet.
        var mayCall: Bool {
            contains(.ran) && !contains(.called) && ending == nil
        }

        var isExecuting: Bool {
            contains(.opened) && !isFinished
        }

        /// Whether the operation was started or, as far as its facts show, added to a queue.
        var isUsed: Bool {
            !isDisjoint(with: [.enqueued, .asked, .claimed])
        }

        /// Whether the operation was started or certainly added to a queue. If it has dependencies, a read of `isReady`
        /// proves nothing, because Foundation reads it when they finish.
        var isTaken: Bool {
            !isDisjoint(with: [.enqueued, .looked, .claimed]) || contains(.asked) && !contains(.dependent)
        }

        /// Whether only the final notifications are left to do.
        var isClosing: Bool {
            contains([.opened, .endReported])
        }

        var isFinished: Bool {
            isClosing && (!contains(.hasAttachments) || contains(.announced))
        }

        /// Whether the closure still runs although the operation was cancelled or timed out.
        var isOverrun: Bool {
            contains([.overran, .inClosure])
        }

        /// Adds the ending, and `overran` if that applies. Returns the facts unchanged if there already is an ending.
        fileprivate func deciding(_ ending: AsyncOperationEnding) -> Facts {
            guard self.ending == nil else { return self }
            let overruns = ending != .finished && contains(.inClosure)
            return union(overruns ? [Facts(ending), .overran] : Facts(ending))
        }
    }

    private let bits = Atomic<UInt32>(0)

    /// The current facts.
    var facts: Facts {
        Facts(rawValue: bits.load(ordering: .acquiring))
    }

    /// Claims the start. Returns true to exactly one caller.
    func claim() -> Bool {
        !add(.claimed).contains(.claimed)
    }

    /// Notes that the operation is added to a queue. Returns true to the first caller, unless the operation was taken
    /// before.
    @discardableResult
    func enqueue() -> Bool {
        !add(.enqueued).isTaken
    }

    /// Notes that the background queue has registered the operation, which it is about to enqueue. A thread that sees
    /// this fact sees the registration.
    func register() {
        _ = add([.enqueued, .registered])
    }

    /// Notes that `isReady` was read.
    func ask() {
        _ = update { $0.ending == nil ? $0.union(.asked) : $0 }
    }

    /// Opens the operation. Returns the facts from before the call: if they contain an ending, the closure must not
    /// run.
    ///
    /// - Parameter isCounted: Whether the end of the operation counts in its queue's progress, if it runs.
    func open(isCounted: Bool = false) -> Facts {
        let running: Facts = isCounted ? [.opened, .inClosure, .ran, .counted] : [.opened, .inClosure, .ran]
        return update { $0.union($0.ending == nil ? running : .opened) }
    }

    /// Claims the call of the closure. Returns true to exactly one caller, and only while the operation runs.
    func call() -> Bool {
        let before = update { $0.mayCall ? $0.union(.called) : $0 }
        return before.mayCall
    }

    /// Notes that a task continues the work.
    func beginTask() {
        _ = add(.inTask)
    }

    /// Decides the ending. Returns the facts from before the call, or nil if the ending was already decided.
    func decide(_ ending: AsyncOperationEnding) -> Facts? {
        let before = update { $0.deciding(ending) }
        return before.ending == nil ? before : nil
    }

    /// Decides that an operation that has not started is cancelled, and leaves it to the next `cancel()` to carry that
    /// out. The closure can no longer run. Returns whether this call decided it.
    func reserveCancellation() -> Bool {
        let before = update { facts in
            facts.ending == nil && !facts.contains(.opened) ? facts.deciding(.cancelled).union(.reserved) : facts
        }
        return before.ending == nil && !before.contains(.opened)
    }

    /// Claims the work of a reserved cancellation. Returns the facts from before the call to exactly one caller.
    func takeReservation() -> Facts? {
        let before = update { $0.subtracting(.reserved) }
        return before.contains(.reserved) ? before : nil
    }

    /// Notes that the closure of an overrun operation has returned. Returns the facts from before the call: if the end
    /// had been reported, the caller releases what the operation holds.
    func noteReturn() -> Facts {
        add(.returned)
    }

    /// Notes that the end is reported. Returns the facts from before the call: if the operation was open, the caller
    /// closes it.
    func reportEnd() -> Facts {
        add(.endReported)
    }

    /// Notes that the operation has attachments. Returns the facts from before the call: if the operation was closing,
    /// it ignores them.
    func attend() -> Facts {
        update { $0.isClosing ? $0 : $0.union(.hasAttachments) }
    }

    /// Notes that the operation has a dependency. Its queue must be notified again when that has finished.
    func depend() {
        if add(.dependent).contains(.readyNotified) { _ = update { $0.subtracting(.readyNotified) } }
    }

    /// Notes that a dependency was removed. Returns true for the first removal.
    func unbind() -> Bool {
        !add(.unbound).contains(.unbound)
    }

    /// Notes that a reader of `isReady` has found the operation waiting.
    func look() {
        if !facts.contains(.looked) { _ = add(.looked) }
    }

    /// Claims the notification of the queue that the operation is ready. Returns true to exactly one caller.
    func ring() -> Bool {
        !add(.readyNotified).contains(.readyNotified)
    }

    /// Returns the facts with a read-modify-write access: every thread that changes them later sees this thread's
    /// earlier writes.
    func confirm() -> Facts {
        add([])
    }

    /// Lets an operation with attachments become finished.
    func announce() {
        _ = add(.announced)
    }

    /// Notes that the closure's call has returned. Returns the facts from before the call.
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
