import Errand

/// A job as a child of a `serve` operation gets it: one line of JSON.
struct ServedJob: Sendable {
    /// The version of the protocol, which children find in the environment as `ERRAND_PROTOCOL`.
    static let version = "1"

    let facts: JobFacts
    /// What an earlier attempt has stored; `nil` if there is nothing, or it is not asked for.
    var checkpoint: JSONText?

    /// The line, with its line feed.
    var line: [UInt8] {
        var line = Array("{".utf8)
        line.reserveCapacity(512 + facts.arguments.bytes.count + (checkpoint?.bytes.count ?? 0))
        func begin(_ key: String) {
            if line.count > 1 { line.append(UInt8(ascii: ",")) }
            line.append(UInt8(ascii: "\""))
            line.append(contentsOf: key.utf8)
            line.append(contentsOf: "\":".utf8)
        }
        func add(_ key: String, _ value: [UInt8]) {
            begin(key)
            line.append(contentsOf: value)
        }
        func add(_ key: String, text: String?) {
            begin(key)
            if let text { JSONEscaping.append(text, to: &line) } else { line.append(contentsOf: "null".utf8) }
        }
        add("id", text: facts.id)
        add("token", Array(String(facts.token).utf8))
        add("operation", text: facts.operation)
        add("name", text: facts.name)
        add("queue", text: facts.queue)
        add("attempt", Array(String(facts.attempt).utf8))
        add("deadline_ms", facts.deadline.map { Array(String($0).utf8) } ?? JSONText.null.bytes)
        add("arguments", facts.arguments.singleLine)
        add("checkpoint", (checkpoint ?? .null).singleLine)
        if let workflow = facts.workflow {
            add("workflow", text: workflow.id.description)
            add("workflow_key", text: workflow.key)
        }
        if let path = facts.results { add("results_path", text: path) }
        for (key, value) in (facts.trace?.fields ?? [:]).sorted(by: { $0.key < $1.key }) { add(key, text: value) }
        line.append(contentsOf: "}\n".utf8)
        return line
    }
}

extension JSONText {
    /// The text without line breaks, which JSON has only between its values.
    fileprivate var singleLine: [UInt8] {
        bytes.contains { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            ? bytes.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 } : bytes
    }
}
