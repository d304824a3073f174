import Logging
import Synchronization

/// A log of failed logins: the first is logged at once, and then every few seconds the number of further ones.
///
/// Entries have the address, and never the credentials.
final class LoginLog: Sendable {
    private struct State {
        /// Whether an entry was written within the last few seconds.
        var isQuiet = false
        var leftOut = 0
        var latest: String?
    }

    private static let every = Duration.seconds(5)

    private let logger: Logger
    private let state = Mutex(State())

    init(_ logger: Logger) { self.logger = logger }

    /// Records a login that failed or was turned away.
    ///
    /// - Parameter address: The remote address.
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
            // The latest one is the subject of the entry, so it does not count as left out.
            tell(address, leftOut: leftOut - 1)
        }
    }

    /// Returns the number of logins since the last entry and the latest address. If there were none, the next one is
    /// logged at once again.
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
