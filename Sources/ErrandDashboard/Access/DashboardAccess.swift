/// What whoever sent a request may do.
public struct DashboardAccess: Sendable, Equatable {
    /// How much is permitted.
    public enum Level: Int, Sendable, Comparable {
        /// Nothing.
        case none
        /// Looking at everything, jobs' arguments too, and changing nothing.
        case reading
        /// Everything.
        case acting

        /// Whether the left one permits less.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// How much is permitted.
    public var level: Level
    /// Who it is, for the log of actions.
    public var user: String
    /// How to say who one is: the value of `WWW-Authenticate`, where nothing is permitted.
    public var challenge: String?
    /// Whether it was not even looked at who it is: too many try passwords at the moment.
    package var isTurnedAway = false

    /// Nothing is permitted.
    public static let none = DashboardAccess(level: .none, user: "")

    /// Nothing is permitted to somebody who did not say who they are.
    ///
    /// - Parameter challenge: how to say it: the value of `WWW-Authenticate`.
    public static func none(challenge: String) -> DashboardAccess {
        DashboardAccess(level: .none, user: "", challenge: challenge)
    }

    /// Nothing is permitted now, whoever it is.
    package static let turnedAway = DashboardAccess(level: .none, user: "", isTurnedAway: true)

    /// Reading is permitted.
    public static func reading(as user: String = "") -> DashboardAccess {
        DashboardAccess(level: .reading, user: user)
    }

    /// Reading and acting are permitted.
    public static func acting(as user: String) -> DashboardAccess { DashboardAccess(level: .acting, user: user) }
}

/// Which `Host` headers are answered.
///
/// A page on the internet can have its own name lead to 127.0.0.1 and so reach what listens there without a password; such
/// requests carry the page's name.
public enum HostRule: Sendable, Equatable {
    /// Every name: for what is behind authentication.
    case any
    /// Only names of this machine itself, and these.
    case loopback(and: Set<String>)

    /// Whether a request to a host is answered.
    ///
    /// - Parameter authority: the `Host` header: a name or address, with or without a port.
    package func admits(_ authority: String?) -> Bool {
        guard case .loopback(let others) = self else { return true }
        guard let name = authority.map(Self.name) else { return false }
        return ["localhost", "127.0.0.1", "[::1]"].contains(name) || others.contains(name)
    }

    private static func name(_ authority: String) -> String {
        let lowered = authority.lowercased()
        guard let colon = lowered.lastIndex(of: ":"), lowered[colon...].dropFirst().allSatisfy(\.isNumber) else {
            return lowered
        }
        return String(lowered[..<colon])
    }
}
