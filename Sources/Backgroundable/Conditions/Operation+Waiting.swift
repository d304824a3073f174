import Foundation

extension Operation {
    /// The maximum number of operations to search, because the search delays the evaluation of a condition.
    private static let sightline = 1_000

    /// Whether the operation is `other` or waits for it, directly or through further operations. An operation waits for
    /// its dependencies, for those of its conditions, and for its parts. Cycles of more than a thousand operations may
    /// be missed.
    final func waits(for other: Operation) -> Bool {
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
        var open = [self]
        while let next = open.popLast(), seen.count <= Operation.sightline {
            if next === other { return true }
            guard !next.isCancelled || next is GroupOperation else { continue }
            for awaited in next.awaited where !awaited.isFinished {
                if seen.insert(ObjectIdentifier(awaited)).inserted { open.append(awaited) }
            }
        }
        return false
    }

    private var awaited: [Operation] {
        let helpers = (self as? AsyncOperation)?.attachments?.evaluation.helpers ?? []
        let parts = (self as? GroupOperation)?.operations ?? []
        return dependencies + helpers + parts
    }
}
