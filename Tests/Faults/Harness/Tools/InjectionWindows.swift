import Synchronization
import TestSupport

/// Windows in which every call of a script is affected, or only the first one, so that a call with an effect is
/// affected, which affecting every n-th call would not achieve.
final class InjectionWindows: Sendable {
    private struct Window {
        let from: ContinuousClock.Instant
        var until: ContinuousClock.Instant?
        var isSpent = false
    }

    private let windows = Mutex<[String: Window]>([:])
    /// Whether an affected call is executed; otherwise a script could do nothing while its window is open.
    private let areCarriedOut: Bool

    init(areCarriedOut: Bool) { self.areCarriedOut = areCarriedOut }

    /// Opens the window of a script; one each.
    func open(_ script: String, from: ContinuousClock.Instant = .now) {
        windows.withLock { $0[script] = Window(from: from) }
    }

    /// Closes the window: calls of this script are affected like others.
    func close(_ script: String) { windows.withLock { $0[script]?.until = .now } }

    /// Whether a call is affected because of the window.
    func injects(_ script: String) -> Bool {
        windows.withLock { windows in
            guard let window = windows[script], window.until == nil, window.from <= .now, !window.isSpent else {
                return false
            }
            windows[script]?.isSpent = !areCarriedOut
            return true
        }
    }

    /// The number of calls with an effect while their window was open.
    func effects(of script: String, through proxy: ChaosProxy) -> Int {
        guard let window = windows.withLock({ $0[script] }) else { return 0 }
        return proxy.passages.filter { passage in
            window.from <= passage.at && passage.at <= window.until ?? .now
                && ScriptCalls.script(of: passage.request) == script && ScriptAnswer(passage.answer).count > 0
        }.count
    }

    /// Whether a call was affected while the window was open, if affected calls are not executed.
    func isSpent(_ script: String) -> Bool { windows.withLock { $0[script]?.isSpent ?? false } }
}
