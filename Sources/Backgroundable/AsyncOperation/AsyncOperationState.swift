import Synchronization

/// The life of an asynchronous operation in one atomic byte.
///
/// How it ends and whether it has started are independent: an operation may be cancelled before it starts, but
/// Foundation's queues let it leave only after they started it. So the two ways meet at the end: the one who decides
/// the ending *tells* the owner, the one who starts it *opens* it, and whoever comes second *closes* it.
struct AsyncOperationState: ~Copyable {
    /// A set of facts, each of which becomes true once; only `inClosure` becomes false again.
    struct Facts: OptionSet {
        let rawValue: UInt8

        /// Somebody has begun to start it.
        static let claimed = Facts(rawValue: 1 << 2)
        /// It has started: it may run, or it may leave.
        static let opened = Facts(rawValue: 1 << 3)
        /// The owner has been told of the ending.
        static let told = Facts(rawValue: 1 << 4)
        /// Its closure's call has not returned yet.
        static let inClosure = Facts(rawValue: 1 << 5)

        private static let endingMask: UInt8 = 0b11

        init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        init(_ ending: AsyncOperationEnding) {
            rawValue = ending.rawValue
        }

        var ending: AsyncOperationEnding? {
            AsyncOperationEnding(rawValue: rawValue & Facts.endingMask)
        }

        var isExecuting: Bool {
            contains(.opened) && !contains(.told)
        }

        var isFinished: Bool {
            contains([.opened, .told])
        }

        /// Whether the closure still runs although the operation was ended over its head.
        var isOverrun: Bool {
            contains(.inClosure) && (ending == .timedOut || ending == .cancelled)
        }
    }

    private let bits = Atomic<UInt8>(0)

    /// What is true now.
    var facts: Facts {
        Facts(rawValue: bits.load(ordering: .acquiring))
    }

    /// True for the one caller who may start the operation.
    func claim() -> Bool {
        !add(.claimed).contains(.claimed)
    }

    /// Opens the operation. Returns the facts before: if there is an ending among them the closure must not run.
    func open() -> Facts {
        update { $0.ending == nil ? $0.union([.opened, .inClosure]) : $0.union(.opened) }
    }

    /// Decides the ending. Returns the facts before, or nil if it was decided already.
    func decide(_ ending: AsyncOperationEnding) -> Facts? {
        let before = update { $0.ending == nil ? $0.union(Facts(ending)) : $0 }
        return before.ending == nil ? before : nil
    }

    /// Notes that the owner knows. True if the operation has been opened: the caller closes it.
    func tell() -> Bool {
        add(.told).contains(.opened)
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
