import Foundation

/// The permitted identifiers of a scheduler, their handlers, and the allowances of its tasks.
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

    /// Returns the registration of an identifier.
    package func registration(of identifier: String) -> TaskRegistration? {
        state.withLock { $0.registrations[identifier] }
    }

    func permit(_ identifiers: Set<String>) {
        state.withLock { $0.permitted.formUnion(identifiers) }
    }

    func isPermitted(_ identifier: String) -> Bool {
        state.withLock { $0.permitted.contains(identifier) }
    }

    /// Registers a handler. Returns false if the identifier is not permitted or already has a handler.
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
            // Releasing the old closure may run user code, so that happens outside the lock.
            withExtendedLifetime(old) {}
        }
    }

    /// Reports the completion of a task to ``onCompletion``.
    package func noteCompletion(of identifier: String, success: Bool) {
        onCompletion?(identifier, success)
    }
}
