/// The delay before a worker registers again.
///
/// A session that lasted for at least its lease was probably lost by accident, so the next one begins immediately. A
/// session that was lost sooner may be lost again at once, for instance if calls and heartbeats reach two different
/// servers. Without a pause, handlers would then begin and be stopped many times a second.
struct RegistrationPause {
    private static let shortest = Duration.milliseconds(50)
    private static let longest = Duration.seconds(2)

    private var began = ContinuousClock.now
    private var last = Duration.zero

    /// Notes that a session is registered.
    mutating func sessionBegins() { began = .now }

    /// Returns the pause after a lost session.
    mutating func next(lease: Duration) -> Duration {
        let lived = ContinuousClock.now - began
        last = lived >= lease ? .zero : min(max(last * 2, Self.shortest), Self.longest)
        return last
    }
}
