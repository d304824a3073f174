import Errand
import Foundation
import Synchronization

/// Reads the ledger of the jobs as it grows.
final class LedgerFollower: Sendable {
    /// One line: an action of a job.
    struct Line: Sendable {
        let what: String
        let id: String
        let token: UInt64
        let milliseconds: Int64
        let pid: Int32
        let attempt: Int
        /// Details; for a report the requested outcome. Empty if there are none.
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

    /// The actions of the jobs so far, in the order of the ledger.
    var lines: [Line] { read(\.lines) }
    /// The number of starts of each job.
    var begun: [String: Int] { read(\.begun) }
    /// The number of times each job reached its end.
    var ended: [String: Int] { read(\.ended) }
    /// The tokens of claims whose reports ended a job for good: finished or cancelled.
    var accepted: [String: [UInt64]] { read(\.accepted) }
    /// The number of stale reports.
    var refused: Int { read(\.refused) }
    /// The number of starts and ends so far.
    var counts: (begun: Int, ended: Int) { read { ($0.begun.count, $0.ended.count) } }
    /// The number of invalid lines.
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
        // Torn: it was written again, or its writer was killed meanwhile.
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

    /// Verbs after which a job has ended for good; failed runs and dead jobs may be retried.
    private static func accept(_ line: Line, _ state: inout State) {
        let verbs: [OutcomeReport.Verb] = [.finished, .cancelled]
        guard verbs.contains(where: { $0.rawValue == line.more }) else { return }
        state.accepted[line.id, default: []].append(line.token)
    }
}
