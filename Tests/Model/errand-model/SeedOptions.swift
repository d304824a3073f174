import ArgumentParser
import ErrandModel
import Foundation

/// Which histories, and how long.
struct SeedOptions: ParsableArguments {
    @Option(help: "How many histories.")
    var histories = 2000
    @Option(help: "How many steps each has.")
    var steps = 50
    @Option(help: "The first seed; the others follow it.")
    var firstSeed: UInt64 = 1
    @Option(help: "Replay this seed alone, and shrink it if it fails.")
    var seed: UInt64?
}

/// A check found something.
struct Found: Error {}

extension Duration {
    /// Seconds with one decimal.
    var inSeconds: String {
        let tenths = components.seconds * 10 + components.attoseconds / 100_000_000_000_000_000
        return "\(tenths / 10).\(tenths % 10) s"
    }
}

/// Says how far a long check is, on a terminal only, and at most a few times a second.
struct Progress {
    private let total: Int
    private let what: String
    private let isShown: Bool
    private var shown = ContinuousClock.now

    init(_ what: String, of total: Int) {
        self.total = total
        self.what = what
        isShown = isatty(2) == 1
    }

    mutating func show(_ done: Int) {
        guard isShown, ContinuousClock.now - shown > .milliseconds(200) else { return }
        shown = .now
        let percent = total > 0 ? done * 100 / total : 0
        FileHandle.standardError.write(Data("\r\u{1B}[K\(what): \(done) of \(total) (\(percent) %)".utf8))
    }

    func end() { if isShown { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) } }
}

/// Prints a line at once, also into a pipe.
func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
