import Synchronization
import TestSupport

/// Times in which every call of a script is injected, or only the first one: so that one is injected that changes something, which not
/// every so many calls would bring about.
final class InjectionWindows: Sendable {
    private struct Window {
        let from: ContinuousClock.Instant
        var until: ContinuousClock.Instant?
        var isSpent = false
    }

    private let windows = Mutex<[String: Window]>([:])
    /// Whether what is injected is carried out: else a script could not do anything while its window is open.
    private let areCarriedOut: Bool

    init(areCarriedOut: Bool) { self.areCarriedOut = areCarriedOut }

    /// Opens the window of a script; one each.
    func open(_ script: String, from: ContinuousClock.Instant = .now) {
        windows.withLock { $0[script] = Window(from: from) }
    }

    /// Calls of this script are injected no more than of others.
    func close(_ script: String) { windows.withLock { $0[script]?.until = .now } }

    /// Whether a call that comes now is to be injected for the window's sake.
    func strikes(_ script: String) -> Bool {
        windows.withLock { windows in
            guard let window = windows[script], window.until == nil, window.from <= .now, !window.isSpent else {
                return false
            }
            windows[script]?.isSpent = !areCarriedOut
            return true
        }
    }

    /// How many calls changed something while their window was open.
    func effects(of script: String, through proxy: ChaosProxy) -> Int {
        guard let window = windows.withLock({ $0[script] }) else { return 0 }
        return proxy.passages.filter { passage in
            window.from <= passage.at && passage.at <= window.until ?? .now
                && ScriptCalls.script(of: passage.request) == script && ScriptAnswer(passage.answer).count > 0
        }.count
    }

    /// Whether a call was injected while the window was open, where what is injected is not carried out.
    func isSpent(_ script: String) -> Bool { windows.withLock { $0[script]?.isSpent ?? false } }
}
