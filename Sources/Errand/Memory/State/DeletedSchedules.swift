/// The revisions of deleted schedules, for processes of older code that start later and still declare them.
///
/// They are kept in two generations: a full one becomes the older one, whose predecessor is dropped. What older code
/// still asks for is moved to the newer one, so what is forgotten is what nobody has asked for while so many others
/// were deleted.
struct DeletedSchedules: Sendable {
    static let mostInGeneration = 10_000

    private var current: [String: Int] = [:]
    private var older: [String: Int] = [:]

    func revision(of name: String) -> Int? { current[name] ?? older[name] }

    mutating func remember(_ name: String, revision: Int) {
        current[name] = revision
        older[name] = nil
        guard current.count >= Self.mostInGeneration else { return }
        older = current
        current = [:]
    }

    /// Somebody has asked for a deleted schedule.
    mutating func remind(of name: String) {
        guard let revision = older[name], current[name] == nil else { return }
        remember(name, revision: revision)
    }

    mutating func forget(_ name: String) {
        current[name] = nil
        older[name] = nil
    }
}
