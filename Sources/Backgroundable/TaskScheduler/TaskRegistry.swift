import Foundation

/// What a scheduler was told: which identifiers are permitted, their handlers, and how long tasks may take.
package final class TaskRegistry: Sendable {
    private struct State {
        var permitted: Set<String>
        var registrations: [String: TaskRegistration] = [:]
        var onCompletion: (@Sendable (String, Bool) -> Void)?
    }

    package let allowances: TaskAllowances
    private let state: Locked<State>

    package init(permitted: Set<String>, allowances: TaskAllowances) {
        self.allowances = allowances
        state = Locked(State(permitted: permitted))
    }

    /// The identifiers that the program's property list permits.
    static var identifiersInPropertyList: Set<String> {
        let listed = Bundle.main.object(forInfoDictionaryKey: "BGTaskSchedulerPermittedIdentifiers")
        return Set(listed as? [String] ?? [])
    }

    /// The identifiers that have a handler, sorted.
    package var registered: [String] {
        state.withLock { $0.registrations.keys.sorted() }
    }

    /// What was registered for an identifier.
    package func registration(of identifier: String) -> TaskRegistration? {
        state.withLock { $0.registrations[identifier] }
    }

    func permit(_ identifiers: Set<String>) {
        state.withLock { $0.permitted.formUnion(identifiers) }
    }

    func isPermitted(_ identifier: String) -> Bool {
        state.withLock { $0.permitted.contains(identifier) }
    }

    /// Returns whether it was taken: the identifier is permitted and has no handler yet.
    func register(_ registration: TaskRegistration, for identifier: String) -> Bool {
        state.withLock { state in
            guard state.permitted.contains(identifier), state.registrations[identifier] == nil else { return false }
            state.registrations[identifier] = registration
            return true
        }
    }

    var onCompletion: (@Sendable (String, Bool) -> Void)? {
        get { state.withLock { $0.onCompletion } }
        set {
            let old = state.withLock { state in
                defer { state.onCompletion = newValue }
                return state.onCompletion
            }
            // What the old one holds may be anything: not under the lock.
            withExtendedLifetime(old) {}
        }
    }

    /// Tells whoever wants to know how a task ended.
    package func noteCompletion(of identifier: String, success: Bool) {
        onCompletion?(identifier, success)
    }
}
