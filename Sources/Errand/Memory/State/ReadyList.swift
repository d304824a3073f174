/// A list of ids with access to the head, both ends and any member in constant time.
///
/// Positions are numbered; a position whose id was removed stays empty and is skipped.
package struct ReadyList: Sendable, Equatable {
    private var idsByPlace: [Int: String] = [:]
    private var placesByID: [String: Int] = [:]
    /// The position of the head, which is empty only if the whole list is.
    private var head = 0
    /// The position after the last.
    private var end = 0

    package static func == (left: ReadyList, right: ReadyList) -> Bool { left.ids == right.ids }

    package var count: Int { idsByPlace.count }
    var isEmpty: Bool { idsByPlace.isEmpty }
    package var first: String? { idsByPlace[head] }

    package func contains(_ id: String) -> Bool { placesByID[id] != nil }

    mutating func append(_ id: String) {
        put(id, at: end)
        end += 1
    }

    mutating func prepend(_ id: String) {
        head -= 1
        put(id, at: head)
    }

    mutating func popFirst() -> String? {
        guard let id = first else { return nil }
        remove(id)
        return id
    }

    mutating func remove(_ id: String) {
        guard let place = placesByID.removeValue(forKey: id) else { return }
        idsByPlace[place] = nil
        skipEmptyPlaces()
    }

    /// Replaces one job by another at the same position.
    mutating func replace(_ old: String, with new: String) {
        guard let place = placesByID.removeValue(forKey: old) else { return }
        put(new, at: place)
    }

    /// The ids from the head on.
    package var ids: [String] { idsByPlace.isEmpty ? [] : (head..<end).compactMap { idsByPlace[$0] } }

    private mutating func put(_ id: String, at place: Int) {
        idsByPlace[place] = id
        placesByID[id] = place
    }

    private mutating func skipEmptyPlaces() {
        if idsByPlace.isEmpty { (head, end) = (0, 0) }
        while head < end, idsByPlace[head] == nil { head += 1 }
    }
}
