import Foundation

extension Operation {
    /// How many operations are looked at for a circle: it costs the thread that evaluates a condition.
    private static let sightline = 1_000

    /// Whether the operation is `other` or waits for it: because it depends on it, because a condition waits for it, because it is
    /// a part of it, or through further operations. Circles of more than a thousand operations may go unseen.
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
