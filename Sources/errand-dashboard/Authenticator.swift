import ErrandDashboard
import HTTPTypes
import Hummingbird

/// The check of users by name and password, which returns their permissions.
struct Authenticator: Sendable {
    /// The access of a request without valid credentials.
    private static let stranger = DashboardAccess.none(challenge: #"Basic realm="Errand", charset="UTF-8""#)
    private static let pause = Duration.milliseconds(500)

    let users: Users
    /// Whether users who are not readers may act.
    let allowsActions: Bool
    let log: LoginLog
    private let gate = LoginLimiter()

    init(_ users: Users, allowsActions: Bool, log: LoginLog) {
        self.users = users
        self.allowsActions = allowsActions
        self.log = log
    }

    /// Returns the permissions of a request's sender. The response to a wrong password is delayed by half a second.
    ///
    /// - Parameters:
    ///   - request: The request with its credentials.
    ///   - address: The remote address, if it is known.
    func access(of request: Request, from address: String?) async -> DashboardAccess {
        guard let given = Credentials(request) else { return Self.stranger }
        let (isRight, place) = (users.know(given), Self.place(of: request, address))
        if isRight, gate.knows(given.name, at: place) { return access(of: given.name) }
        if !isRight { gate.noteGuess(at: given.name, from: place) }
        guard gate.enter(from: place) else {
            log.note(address)
            return .turnedAway
        }
        if isRight {
            gate.remember(given.name, at: place)
            gate.leave(place)
            return access(of: given.name)
        }
        log.note(address)
        await wait()
        gate.leave(place)
        return Self.stranger
    }

    private func access(of name: String) -> DashboardAccess {
        allowsActions && !users.readsOnly(name) ? .acting(as: name) : .reading(as: name)
    }

    /// Returns the place that the login limits apply to. Behind a proxy on this machine, all requests have the proxy's
    /// address, so the last entry of `X-Forwarded-For` counts. Other senders could forge that header and change it with
    /// every guess.
    private static func place(of request: Request, _ address: String?) -> String {
        let isHere = address.map { $0.hasPrefix("127.") || $0 == "::1" || $0.hasPrefix("::ffff:127.") } ?? false
        guard isHere, let name = HTTPField.Name("X-Forwarded-For"), let passedOn = request.headers[values: name].last
        else { return address ?? "" }
        return passedOn.split(separator: ",").last.map { "for \($0.filter { $0 != " " }.prefix(64))" } ?? address ?? ""
    }

    /// Waits in a task of its own, so that a client that disconnects does not free its slot at once.
    private func wait() async {
        let pause = Task { try? await Task.sleep(for: Self.pause) }
        _ = await pause.value
    }
}
