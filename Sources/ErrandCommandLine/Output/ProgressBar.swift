/// A progress bar on standard error.
package struct ProgressBar: Sendable {
    private static let width = 30

    private let total: Int64?
    private let isShown: Bool
    private var drawn: ContinuousClock.Instant?

    /// Makes a bar. It is drawn only if standard error is a terminal, and not a log for programs.
    ///
    /// - Parameters:
    ///   - total: The total amount; `nil` if it is unknown: then the bar shows only the amount done.
    ///   - isShown: Whether it is drawn.
    package init(total: Int64?, isShown: Bool = Terminal.readsStandardError && !StandardError.writesEntries) {
        self.total = total.map { max($0, 1) }
        self.isShown = isShown
    }

    /// Draws the bar, at most ten times a second.
    package mutating func update(_ done: Int64, _ words: @autoclosure () -> String) {
        guard isShown else { return }
        let now = ContinuousClock.now
        if let drawn, now - drawn < .milliseconds(100) { return }
        drawn = now
        StandardError.write(raw: "\r\u{1b}[K" + line(done, words()))
    }

    /// Removes the bar, so that a line can be written; the next update draws it again.
    package mutating func hide() {
        guard isShown, drawn != nil else { return }
        drawn = nil
        StandardError.write(raw: "\r\u{1b}[K")
    }

    func line(_ done: Int64, _ words: String) -> String {
        guard let total else { return words.onOneLine(atMost: 60) }
        // A longer line would wrap, and the next one would not replace it.
        let room = min(60, max(8, (Terminal.width ?? 80) - Self.width - 8))
        let share = Double(min(max(done, 0), total)) / Double(total)
        let filled = Int(share * Double(Self.width))
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.width - filled)
        return "\(bar) \(Int(share * 100)) % \(words.onOneLine(atMost: room))"
    }
}
