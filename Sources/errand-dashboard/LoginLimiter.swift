import Synchronization

/// Lets only a few try passwords at the same time: those who guess can open any number of connections.
///
/// Nobody is told whether a password is right while there is no place for their try, or guessing would cost nothing; but
/// whoever came in before is known, and needs none. So those who guess do not keep them out.
final class LoginLimiter: Sendable {
    private struct State {
        /// How many are trying, by where they are.
        var trying: [String: Int] = [:]
        /// Who came in from where, of each place one entry a user; and how often somebody there guessed at their password since.
        var known: [Guest: Int] = [:]
    }

    private struct Guest: Hashable {
        let name: String
        let place: String
    }

    private static let mostInAll = 4
    /// Of one place fewer, so that who guesses there leaves room for others.
    private static let mostOfAPlace = 2
    private static let mostKnown = 10_000
    private static let mostGuesses = 10

    private let state = Mutex(State())

    /// Whether somebody came in from a place before.
    func knows(_ name: String, at place: String) -> Bool {
        state.withLock { $0.known[Guest(name: name, place: place)] != nil }
    }

    /// Begins a try; `false` when too many are trying.
    func enter(from place: String) -> Bool {
        state.withLock { state in
            let ofThePlace = state.trying[place] ?? 0
            let inAll = state.trying.values.reduce(0, +)
            guard inAll < Self.mostInAll, ofThePlace < Self.mostOfAPlace else { return false }
            state.trying[place] = ofThePlace + 1
            return true
        }
    }

    /// Ends a try.
    func leave(_ place: String) {
        state.withLock { state in
            let others = (state.trying[place] ?? 1) - 1
            state.trying[place] = others > 0 ? others : nil
        }
    }

    /// Keeps in mind that somebody came in.
    func remember(_ name: String, at place: String) {
        state.withLock { state in
            // Only users get here. Who has so many places is asked anew now and then.
            if state.known.count >= Self.mostKnown { state.known.removeAll() }
            state.known[Guest(name: name, place: place)] = 0
        }
    }

    /// Somebody gave a wrong password. Where a user is known, a right one is told at once, so that those who share the place could
    /// guess for nothing: after some guesses the user has to come in anew.
    func noteGuess(at name: String, from place: String) {
        let guest = Guest(name: name, place: place)
        state.withLock { state in
            guard let guesses = state.known[guest] else { return }
            state.known[guest] = guesses + 1 < Self.mostGuesses ? guesses + 1 : nil
        }
    }
}
