import Logging
import Synchronization

/// Says in the log that logins failed: the first at once, and then every few seconds how many more there were.
///
/// It says from where, and never what was tried.
final class LoginLog: Sendable {
    private struct State {
        /// Whether the log has just been told.
        var isQuiet = false
        var leftOut = 0
        var latest: String?
    }

    private static let every = Duration.seconds(5)

    private let logger: Logger
    private let state = Mutex(State())

    init(_ logger: Logger) { self.logger = logger }

    /// Notes a login that failed, or was not even looked at.
    ///
    /// - Parameter address: where it came from.
    func note(_ address: String?) {
        let isFirst = state.withLock { state in
            guard state.isQuiet else {
                state.isQuiet = true
                return true
            }
            state.leftOut += 1
            state.latest = address
            return false
        }
        guard isFirst else { return }
        tell(address, leftOut: 0)
        Task { await tellTheRest() }
    }

    private func tellTheRest() async {
        while true {
            try? await Task.sleep(for: Self.every)
            let (leftOut, address) = takeLeftOut()
            if leftOut == 0 { return }
            // The latest is told itself.
            tell(address, leftOut: leftOut - 1)
        }
    }

    /// What was left out since the log was told; when it was nothing, the next is told at once again.
    private func takeLeftOut() -> (Int, String?) {
        state.withLock { state in
            defer { (state.leftOut, state.latest) = (0, nil) }
            if state.leftOut == 0 { state.isQuiet = false }
            return (state.leftOut, state.latest)
        }
    }

    private func tell(_ address: String?, leftOut: Int) {
        logger.warning(
            "failed login",
            metadata: ["remote": "\(address ?? "unknown")", "left_out": "\(leftOut)"]
        )
    }
}
