import ErrandCommandLine
import ErrandOperator
import ErrandText
import Synchronization

/// The progress of a benchmark: how long it will take, and on a terminal what it measures now and how long the rest takes.
final class BenchProgress: Sendable {
    private struct State: Sendable {
        var bar: ProgressBar
        /// The expected seconds of the turns that have ended.
        var expected = 0.0
        /// The seconds that they took.
        var taken = 0.0
        var title = ""
        /// The expected seconds of the present turn.
        var seconds = 0.0
        var began = ContinuousClock.now
    }

    private let total: Double
    private let state: Mutex<State>
    private let ticker: Mutex<Task<Void, Never>?> = Mutex(nil)

    /// Makes the progress of turns that take so many seconds in all, and reports the time on standard error.
    init(seconds: [Double], of what: String) {
        total = max(1, seconds.reduce(0, +))
        state = Mutex(State(bar: ProgressBar(total: Int64(total * 1000))))
        StandardError.write("about \(TimeSpanText.brief(Self.rounded(total))) for \(what)")
        let task = Task { [weak self] in
            while (try? await Task.sleep(for: .seconds(1))) != nil { self?.draw() }
        }
        ticker.withLock { $0 = task }
    }

    /// Begins a turn, which ends with the next one.
    func begin(_ title: String, seconds: Double) {
        state.withLock { state in
            Self.end(&state)
            (state.title, state.seconds, state.began) = (title, seconds, .now)
        }
        draw()
    }

    /// Removes the progress from the terminal.
    func finish() {
        ticker.withLock { $0?.cancel() }
        state.withLock { $0.bar.hide() }
    }

    private static func end(_ state: inout State) {
        guard !state.title.isEmpty else { return }
        state.expected += state.seconds
        state.taken += (ContinuousClock.now - state.began) / .seconds(1)
    }

    private func draw() {
        state.withLock { state in
            guard !state.title.isEmpty else { return }
            let spent = min((ContinuousClock.now - state.began) / .seconds(1), state.seconds)
            let done = state.expected + spent
            // This machine's speed, once a part is measured.
            let pace = state.expected > 0 ? min(max(state.taken / state.expected, 0.1), 10) : 1
            let left = Self.rounded(max(0, total - done) * pace)
            state.bar.update(Int64(done * 1000), "about \(TimeSpanText.brief(left)) left: \(state.title)")
        }
    }

    /// Returns milliseconds, rounded up to minutes if there are several.
    private static func rounded(_ seconds: Double) -> Int64 {
        let whole = Int64(min(max(seconds, 1), 1_000_000).rounded(.up))
        return (whole < 120 ? whole : (whole + 59) / 60 * 60) * 1000
    }
}
