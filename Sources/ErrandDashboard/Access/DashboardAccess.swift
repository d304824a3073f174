/// The permissions of the sender of a request.
public struct DashboardAccess: Sendable, Equatable {
    /// A level of permissions.
    public enum Level: Int, Sendable, Comparable {
        /// No access.
        case none
        /// Read access to everything, including jobs' arguments.
        case reading
        /// Read access and all actions.
        case acting

        /// Returns whether the left level permits less than the right one.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// The permitted level.
    public var level: Level
    /// The user's name, for the log of actions.
    public var user: String
    /// The value of the `WWW-Authenticate` header for a request without permissions.
    public var challenge: String?
    /// Whether the request is turned away because too many logins are in progress.
    package var isTurnedAway = false

    /// No access.
    public static let none = DashboardAccess(level: .none, user: "")

    /// Makes an access without permissions for a request without credentials.
    ///
    /// - Parameter challenge: The value of the `WWW-Authenticate` header, which asks for credentials.
    public static func none(challenge: String) -> DashboardAccess {
        DashboardAccess(level: .none, user: "", challenge: challenge)
    }

    /// No access for now, because too many logins are in progress.
    package static let turnedAway = DashboardAccess(level: .none, user: "", isTurnedAway: true)

    /// Makes an access that permits reading.
    public static func reading(as user: String = "") -> DashboardAccess {
        DashboardAccess(level: .reading, user: user)
    }

    /// Makes an access that permits reading and acting.
    public static func acting(as user: String) -> DashboardAccess { DashboardAccess(level: .acting, user: user) }
}

/// A rule for the `Host` headers that the dashboard accepts.
///
/// A page on the internet can make its own name resolve to 127.0.0.1 (DNS rebinding) and so reach a server that listens
/// there without a password. Such requests have the page's name in their `Host` header.
public enum HostRule: Sendable, Equatable {
    /// Accepts every name, for dashboards behind authentication.
    case any
    /// Accepts the names of the loopback interface and these.
    case loopback(and: Set<String>)

    /// Returns whether a request to a host is accepted.
    ///
    /// - Parameter authority: The `Host` header: a name or address, with or without a port.
    package func admits(_ authority: String?) -> Bool {
        guard case .loopback(let others) = self else { return true }
        guard let name = authority.map(Self.name) else { return false }
        return ["localhost", "127.0.0.1", "[::1]"].contains(name) || others.contains(name)
    }

    /// Returns the host of a `Host` header, without the port.
    static func name(_ authority: String) -> String {
        let lowered = authority.lowercased()
        guard let colon = lowered.lastIndex(of: ":"), lowered[colon...].dropFirst().allSatisfy(\.isNumber) else {
            return lowered
        }
        return String(lowered[..<colon])
    }
}
