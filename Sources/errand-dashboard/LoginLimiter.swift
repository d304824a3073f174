import Synchronization

/// A limit for simultaneous logins, because an attacker can open any number of connections.
///
/// While there is no free slot, the response does not reveal whether a password is right; otherwise guessing would cost
/// nothing. A user who has logged in from the same place before needs no slot, so attackers do not lock users out.
final class LoginLimiter: Sendable {
    private struct State {
        /// The number of logins in progress by place.
        var trying: [String: Int] = [:]
        /// The users who have logged in, one entry for each user and place, with the number of wrong passwords for that
        /// user from there since.
        var known: [Guest: Int] = [:]
    }

    private struct Guest: Hashable {
        let name: String
        let place: String
    }

    private static let mostInAll = 4
    /// A smaller limit for one place, so that an attacker there leaves slots for others.
    private static let mostOfAPlace = 2
    private static let mostKnown = 10_000
    private static let mostGuesses = 10

    private let state = Mutex(State())

    /// Returns whether a user has logged in from a place before.
    func knows(_ name: String, at place: String) -> Bool {
        state.withLock { $0.known[Guest(name: name, place: place)] != nil }
    }

    /// Takes a slot for a login; returns `false` if there are too many.
    func enter(from place: String) -> Bool {
        state.withLock { state in
            let ofThePlace = state.trying[place] ?? 0
            let inAll = state.trying.values.reduce(0, +)
            guard inAll < Self.mostInAll, ofThePlace < Self.mostOfAPlace else { return false }
            state.trying[place] = ofThePlace + 1
            return true
        }
    }

    /// Frees the slot of a login.
    func leave(_ place: String) {
        state.withLock { state in
            let others = (state.trying[place] ?? 1) - 1
            state.trying[place] = others > 0 ? others : nil
        }
    }

    /// Remembers that a user has logged in from a place.
    func remember(_ name: String, at place: String) {
        state.withLock { state in
            // Only real users get here. If they have this many places, they use a slot again from time to time.
            if state.known.count >= Self.mostKnown { state.known.removeAll() }
            state.known[Guest(name: name, place: place)] = 0
        }
    }

    /// Counts a wrong password. A remembered user's right password is accepted without a slot, so others at the same
    /// place could guess for free; after ten guesses the user needs a slot again.
    func noteGuess(at name: String, from place: String) {
        let guest = Guest(name: name, place: place)
        state.withLock { state in
            guard let guesses = state.known[guest] else { return }
            state.known[guest] = guesses + 1 < Self.mostGuesses ? guesses + 1 : nil
        }
    }
}
