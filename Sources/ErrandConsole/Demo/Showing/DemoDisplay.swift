import ErrandCommandLine
import ErrandOperator
import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The display of the demo's progress on standard error: on a terminal a bar in the last line, else line by line.
final class DemoDisplay: Sendable {
    private struct State: Sendable {
        /// Whether the bar is in the last line.
        var hasBar = false
        var pace = Pace()
        var nextLine = ContinuousClock.now
    }

    private let state = Mutex(State())
    private let isTerminal: Bool

    init() {
        isTerminal = isatty(2) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// Writes a sentence about an event.
    func tell(_ sentence: String) {
        state.withLock { state in
            RawOutput.write((state.hasBar ? "\r\u{1B}[K" : "") + sentence.terminalSafe + "\n", to: 2)
            state.hasBar = false
        }
    }

    /// Draws the progress as a bar, or writes one line per second.
    func draw(done: Int, of total: Int) {
        state.withLock { state in
            let now = ContinuousClock.now
            state.pace.note(done, at: now)
            let text = "\(done.grouped) of \(total.counted("job")) done, \(state.pace.perSecond.grouped) jobs/s"
            if isTerminal {
                RawOutput.write("\r\u{1B}[K" + bar(done, total, beside: text) + text, to: 2)
                state.hasBar = true
            } else if now >= state.nextLine {
                RawOutput.write(text + "\n", to: 2)
                state.nextLine = now + .seconds(1)
            }
        }
    }

    /// Clears the bar.
    func clear() {
        state.withLock { state in
            if state.hasBar { RawOutput.write("\r\u{1B}[K", to: 2) }
            state.hasBar = false
        }
    }

    /// Returns a bar as wide as the terminal permits, at most 40 columns.
    private func bar(_ done: Int, _ total: Int, beside text: String) -> String {
        let width = min(40, columns - text.count - 4)
        guard width > 4, total > 0 else { return "" }
        let filled = min(width, done * width / total)
        return "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled) + "] "
    }

    private var columns: Int {
        var size = winsize()
        return ioctl(2, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }
}

/// The rate of jobs per second, over about the last second.
private struct Pace: Sendable {
    private var marks: [(at: ContinuousClock.Instant, done: Int)] = []

    mutating func note(_ done: Int, at now: ContinuousClock.Instant) {
        marks.append((now, done))
        while marks.count > 2, now - marks[1].at >= .seconds(1) { marks.removeFirst() }
    }

    var perSecond: Int {
        guard let first = marks.first, let last = marks.last, last.at > first.at else { return 0 }
        return Int(Double(last.done - first.done) / ((last.at - first.at) / .seconds(1)))
    }
}
