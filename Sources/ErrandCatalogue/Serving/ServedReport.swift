import Errand
import ErrandText

/// What a child of a `serve` operation says about its job: one line of JSON.
struct ServedReport: Sendable, Equatable {
    enum Content: Sendable, Equatable {
        /// The job has ended like this.
        case outcome(HandlerOutcome)
        /// The part that is done, 0 to 1, and what the job does now.
        case progress(Double, String?)
        /// A value for the next attempt.
        case checkpoint(JSONText)
    }

    /// The job, which the child must have at present.
    let id: String
    /// The token of its claim.
    let token: Token
    let content: Content
}

extension ServedReport {
    /// Why a line is not a report.
    struct Problem: Error {
        let reason: String

        /// A report that is not valid.
        init(reason: String) { self.reason = "a line that is not a valid report: \(reason)" }

        /// A line that is no report at all, such as what a handler prints.
        init(_ line: [UInt8]) {
            let quote = String(decoding: line.prefix(400), as: UTF8.self).printable.shortened(to: 60)
            reason = "a line that is not a report (\"\(quote)\"); write anything else to standard error"
        }
    }

    private static let keys: Set<String> = [
        "id", "token", "outcome", "result", "error", "final", "retry_after_ms", "progress", "message", "checkpoint",
    ]
    private static let mostResult = 64 * 1024
    /// A day, as with web servers.
    private static let longestPause: Int64 = 86_400_000

    init(line: [UInt8]) throws(Problem) {
        let text: JSONText
        do { text = try JSONText(validating: line) } catch { throw Problem(line) }
        guard text.bytes.first(where: { $0 != UInt8(ascii: " ") }) == UInt8(ascii: "{") else { throw Problem(line) }
        let members = Dictionary(text.members.map { ($0.key, $0.value) }) { $1 }
        if let unknown = members.keys.filter({ !Self.keys.contains($0) }).min() {
            throw Problem(reason: "the member \"\(unknown)\" is not known")
        }
        guard let id = members["id"]?.string, let token = members["token"].flatMap({ Token($0.description) }) else {
            throw Problem(reason: "\"id\" must be text and \"token\" a whole number, both as in the job's line")
        }
        self.init(id: id, token: token, content: try Self.content(members))
    }

    private static func content(_ members: [String: JSONText]) throws(Problem) -> Content {
        switch (members["outcome"], members["progress"], members["checkpoint"]) {
        case (let outcome?, nil, nil): return .outcome(try Self.outcome(outcome, members))
        case (nil, let progress?, nil):
            guard let fraction = progress.double, (0...1).contains(fraction) else {
                throw Problem(reason: "\"progress\" is \(progress.shown); it must be a number from 0 to 1")
            }
            return .progress(fraction, members["message"]?.string)
        case (nil, nil, let checkpoint?): return .checkpoint(checkpoint)
        default: throw Problem(reason: "it must have exactly one of \"outcome\", \"progress\" and \"checkpoint\"")
        }
    }

    private static func outcome(_ kind: JSONText, _ members: [String: JSONText]) throws(Problem) -> HandlerOutcome {
        let error = members["error"]?.string ?? "no reason was given"
        switch kind.string {
        case "finished":
            let result = members["result"] ?? .null
            guard result.bytes.count <= mostResult else {
                throw Problem(reason: "\"result\" has \(result.bytes.count) bytes; at most \(mostResult) are allowed")
            }
            return .finished(result: result == .null ? [] : result.bytes)
        case "failed":
            let isFinal = members["final"] == JSONText(booleanLiteral: true)
            return .failed(error, isFinal: isFinal, retryAfter: try pause(members))
        case "snoozed": return .snoozed(try pause(members) ?? .seconds(1))
        case "cancelled": return .cancelled(error)
        default:
            throw Problem(reason: "\"outcome\" is \(kind.shown); it must be finished, failed, snoozed or cancelled")
        }
    }

    private static func pause(_ members: [String: JSONText]) throws(Problem) -> Duration? {
        guard let value = members["retry_after_ms"], value != .null else { return nil }
        guard let milliseconds = value.double, (0...Double(longestPause)).contains(milliseconds) else {
            throw Problem(
                reason: "\"retry_after_ms\" is \(value.shown); it must be a number from 0 to \(longestPause) (a day)"
            )
        }
        return .milliseconds(Int64(milliseconds.rounded(.up)))
    }
}

extension JSONText {
    fileprivate var double: Double? { Double(description) }
    /// The text in errors.
    fileprivate var shown: String { description.printable.shortened(to: 60) }
}
