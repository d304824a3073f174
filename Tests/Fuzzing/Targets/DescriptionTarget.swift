import Errand
import ErrandCatalogue

/// What must hold of an operation description, as a producer or a line of NDJSON brings it.
@Sendable func checkDescription(_ input: [UInt8]) throws(Violation) {
    let description: OperationDescription
    do { description = try OperationDescription(json: input) } catch {
        return try requireDecent("\(error)")
    }
    try requireRules(description)
    let written = description.encoded()
    let again = try require("what was written cannot be read") { try OperationDescription(json: written) }
    try require(again == description, "what was written and read again differs")
    try require(again.backoff == description.backoff, "a backoff that is written and read again differs")
    try require(again.encoded() == written, "the same description is written in two ways")
    let canonical = description.arguments.canonical
    try require(canonical.canonical == canonical, "a canonical form has another one")
    let validated = try require("canonical arguments are no JSON") { try JSONText(validating: canonical.bytes) }
    try require(validated == canonical, "canonical arguments change when they are read")
    let template = try require("a template is refused") { try Template("{a} {path}") }
    try checkFilling(template, with: description.arguments)
}

/// The limits of `docs/format.md`.
func requireRules(_ description: OperationDescription) throws(Violation) {
    try require(isToken(description.operation), "the operation \(description.operation.debugDescription)")
    try require(isToken(description.queue), "the queue \(description.queue.debugDescription)")
    try require((0...9).contains(description.priority), "the priority \(description.priority)")
    if let name = description.name { try require((1...1024).contains(name.utf8.count), "a name of wrong length") }
    if let id = description.id { try require(isID(id), "the id \(id.debugDescription)") }
    if let retries = description.retries { try require((0...1000).contains(retries), "\(retries) retries") }
    if let time = description.notBefore { try require((0...9_999_999_999_999).contains(time), "the time \(time)") }
    if let timeout = description.timeout {
        try require((Duration.milliseconds(1)...Duration.seconds(31_536_000)).contains(timeout), "timeout \(timeout)")
    }
    if let backoff = description.backoff { try requireRules(backoff) }
    try require(description.arguments.bytes.count <= 1_048_576, "arguments that are too large")
    try require(depth(of: description.arguments.bytes) <= 64, "arguments that are too deep")
}

/// The limits of a backoff, for which every wait is one that a broker can keep.
func requireRules(_ backoff: RetryDelays) throws(Violation) {
    let allowed = Duration.milliseconds(1)...Duration.seconds(31_536_000)
    try require(allowed.contains(backoff.base) && allowed.contains(backoff.longest), "the waits of \(backoff)")
    try require(backoff.base <= backoff.longest && (0...1).contains(backoff.jitter), "the backoff \(backoff)")
    for attempt in [1, 2, 1001] {
        let wait = Duration.milliseconds(backoff.delay(ofRetry: attempt))
        try require(.zero <= wait && wait <= backoff.longest, "a wait of \(wait)")
    }
}

/// How deep arrays and objects are nested in a text that is known to be JSON.
private func depth(of json: [UInt8]) -> Int {
    var (depth, deepest, inText, escaped) = (0, 0, false, false)
    for byte in json {
        switch byte {
        case _ where escaped: escaped = false
        case UInt8(ascii: "\\") where inText: escaped = true
        case UInt8(ascii: "\""): inText.toggle()
        case _ where inText: break
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            depth += 1
            deepest = max(deepest, depth)
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        default: break
        }
    }
    return deepest
}

/// `[A-Za-z0-9_.-]{1,128}`, written down a second time.
func isToken(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { isWord($0) || $0 == 0x2E }
}

/// `[A-Za-z0-9_-]{1,64}`, written down a second time.
func isID(_ text: String) -> Bool { (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(isWord) }

private func isWord(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
        || byte == 0x2D
}
