/// The revisions of deleted schedules, for processes of older code that start later and still declare them.
///
/// They are kept in two generations: when one is full, it becomes the older one and replaces its predecessor. A
/// schedule that is declared again moves to the newer one, so the schedules that are forgotten were not declared while
/// so many others were deleted.
struct DeletedSchedules: Sendable, Equatable {
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

    /// Notes that a deleted schedule was declared.
    mutating func remind(of name: String) {
        guard let revision = older[name], current[name] == nil else { return }
        remember(name, revision: revision)
    }

    mutating func forget(_ name: String) {
        current[name] = nil
        older[name] = nil
    }
}
