import ErrandDashboard
import HTTPTypes
import Hummingbird

/// Says what whoever sent a request may do, by their name and password.
struct Authenticator: Sendable {
    /// What somebody may who did not say who they are.
    private static let stranger = DashboardAccess.none(challenge: #"Basic realm="Errand", charset="UTF-8""#)
    private static let pause = Duration.milliseconds(500)

    let users: Users
    /// Whether those who do not only read may act.
    let allowsActions: Bool
    let log: LoginLog
    private let gate = LoginLimiter()

    init(_ users: Users, allowsActions: Bool, log: LoginLog) {
        self.users = users
        self.allowsActions = allowsActions
        self.log = log
    }

    /// What whoever sent a request may do. A wrong password costs half a second.
    ///
    /// - Parameters:
    ///   - request: what was sent.
    ///   - address: where it came from, as far as that is known.
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

    /// Behind a proxy all come from its address; the last thing it says is whose request it passes on. Anybody else could make that
    /// up, and be in another place with each guess.
    private static func place(of request: Request, _ address: String?) -> String {
        let isHere = address.map { $0.hasPrefix("127.") || $0 == "::1" || $0.hasPrefix("::ffff:127.") } ?? false
        guard isHere, let name = HTTPField.Name("X-Forwarded-For"), let passedOn = request.headers[values: name].last
        else { return address ?? "" }
        return passedOn.split(separator: ",").last.map { "for \($0.filter { $0 != " " }.prefix(64))" } ?? address ?? ""
    }

    /// Not in the request's own task: whoever hangs up must not have their place free at once.
    private func wait() async {
        let pause = Task { try? await Task.sleep(for: Self.pause) }
        _ = await pause.value
    }
}
