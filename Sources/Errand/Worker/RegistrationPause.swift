/// How long a worker waits before it registers anew.
///
/// A session that lived for its lease was lost by an accident, and the next one begins at once. One that is lost sooner may be lost
/// again as soon as it is there, for instance where calls and heartbeats reach two different servers: without a pause, handlers
/// would begin and be stopped many times a second.
struct RegistrationPause {
    private static let shortest = Duration.milliseconds(50)
    private static let longest = Duration.seconds(2)

    private var began = ContinuousClock.now
    private var last = Duration.zero

    /// A session is registered.
    mutating func sessionBegins() { began = .now }

    /// The session was lost: the pause before the next one.
    mutating func next(lease: Duration) -> Duration {
        let lived = ContinuousClock.now - began
        last = lived >= lease ? .zero : min(max(last * 2, Self.shortest), Self.longest)
        return last
    }
}
