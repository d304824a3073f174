package import Errand

/// The numbers of retries that live workers have as defaults for the jobs of their operations.
package struct DefaultRetries: Sendable {
    /// The numbers by operation; `nil` if workers differ.
    private var known: [String: Int?] = [:]

    /// Makes defaults from the sessions of workers.
    package init(_ sessions: some Sequence<SessionStatus> = []) {
        for (operation, retries) in sessions.lazy.flatMap(\.retries) {
            let isOther = known[operation].map { $0 != retries } ?? false
            known[operation] = .some(isOther ? nil : retries)
        }
    }

    /// The number of retries of an operation's jobs; `nil` if no worker has it, or if workers differ.
    package subscript(operation: String) -> Int? { known[operation] ?? nil }
}
