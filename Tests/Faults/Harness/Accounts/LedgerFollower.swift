import Errand
import Foundation
import Synchronization

/// Reads what the jobs write into their ledger, as it grows.
final class LedgerFollower: Sendable {
    /// One line: what a job did.
    struct Line: Sendable {
        let what: String
        let id: String
        let token: UInt64
        let milliseconds: Int64
        let pid: Int32
        let attempt: Int
        /// What more it says, of a report what the broker was to do; empty for nothing.
        let more: String

        fileprivate init?(_ words: [Substring]) {
            guard words.count >= 6, let token = UInt64(words[2]), let time = Int64(words[3]), let pid = Int32(words[4]),
                let attempt = Int(words[5])
            else { return nil }
            what = String(words[0])
            id = String(words[1])
            self.token = token
            milliseconds = time
            self.pid = pid
            self.attempt = attempt
            more = words.count > 6 ? String(words[6]) : ""
        }
    }

    private struct State {
        var offset: UInt64 = 0
        var rest: [UInt8] = []
        var lines: [Line] = []
        var begun: [String: Int] = [:]
        var ended: [String: Int] = [:]
        var accepted: [String: [UInt64]] = [:]
        var refused = 0
        var unreadable = 0
    }

    let path: String
    private let state = Mutex(State())

    init(_ path: String) {
        self.path = path
        _ = FileManager.default.createFile(atPath: path, contents: nil)
    }

    /// What the jobs did so far, in the order in which they wrote it.
    var lines: [Line] { read(\.lines) }
    /// How often each job began.
    var begun: [String: Int] { read(\.begun) }
    /// How often each job reached its end.
    var ended: [String: Int] { read(\.ended) }
    /// The tokens of the claims as whose ends the broker accepted that a job is over for good: finished or cancelled.
    var accepted: [String: [UInt64]] { read(\.accepted) }
    /// How many reports came too late to count.
    var refused: Int { read(\.refused) }
    /// How many jobs began, and ended, so far.
    var counts: (begun: Int, ended: Int) { read { ($0.begun.count, $0.ended.count) } }
    /// How many lines make no sense.
    var unreadable: Int { read(\.unreadable) }

    private func read<Value: Sendable>(_ value: (State) -> Value) -> Value {
        state.withLock { state in
            Self.catchUp(&state, path)
            return value(state)
        }
    }

    private static func catchUp(_ state: inout State, _ path: String) {
        guard let file = FileHandle(forReadingAtPath: path) else { return }
        defer { try? file.close() }
        guard (try? file.seek(toOffset: state.offset)) != nil, let data = try? file.readToEnd() else { return }
        state.offset += UInt64(data.count)
        var text = state.rest + data
        while let end = text.lastIndex(of: UInt8(ascii: "\n")) {
            for line in text[..<end].split(separator: UInt8(ascii: "\n")) { take(line, &state) }
            text.removeFirst(end + 1)
        }
        state.rest = text
    }

    private static func take(_ bytes: ArraySlice<UInt8>, _ state: inout State) {
        var words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        // Torn: it was written again, or its writer was killed over it.
        guard words.popLast() == "." else { return }
        guard let line = Line(words) else {
            state.unreadable += 1
            return
        }
        switch line.what {
        case "acked": return accept(line, &state)
        case "refused": return state.refused += 1
        case "begin": state.begun[line.id, default: 0] += 1
        case "end": state.ended[line.id, default: 0] += 1
        default: break
        }
        state.lines.append(line)
    }

    /// A failed run may be tried again, a dead job retried; these are over.
    private static func accept(_ line: Line, _ state: inout State) {
        let verbs: [OutcomeReport.Verb] = [.finished, .cancelled]
        guard verbs.contains(where: { $0.rawValue == line.more }) else { return }
        state.accepted[line.id, default: []].append(line.token)
    }
}
