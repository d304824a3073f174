/// A parser of untrusted bytes, and its properties.
///
/// The same checks run in libFuzzer (`scripts/fuzz`) and, over the kept corpus, in the ordinary tests. To add a parser,
/// add a file of checks here, a line in ``all``, and a folder of seeds in `Tests/Fuzzing/Corpus`.
package struct FuzzTarget: Sendable {
    /// Its name in `scripts/fuzz` and of its folder of seeds.
    package let name: String
    /// Throws a ``Violation`` if an input breaks a property.
    package let check: @Sendable (_ input: [UInt8]) throws(Violation) -> Void

    /// Every parser that is fuzzed.
    package static let all = [
        FuzzTarget(name: "envelope", check: checkEnvelope),
        FuzzTarget(name: "description", check: checkDescription),
        FuzzTarget(name: "catalogue", check: checkCatalogue),
        FuzzTarget(name: "replies", check: checkReplies),
        FuzzTarget(name: "schedules", check: checkSchedules),
        FuzzTarget(name: "workflows", check: checkWorkflows),
    ]

    /// The parser with this name.
    package static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// A broken property.
package struct Violation: Error, Sendable, CustomStringConvertible {
    /// The problems.
    package let description: String

    init(_ what: String) { description = what }
}

/// Throws a ``Violation`` unless the condition holds.
func require(_ condition: Bool, _ what: @autoclosure () -> String) throws(Violation) {
    guard condition else { throw Violation(what()) }
}

/// The value of an expression that must not fail here.
func require<Value>(_ what: @autoclosure () -> String, _ body: () throws -> Value) throws(Violation) -> Value {
    do { return try body() } catch { throw Violation("\(what()): \(error)") }
}

/// An error's text goes to logs and terminals, so it must be one short line without control characters.
func requireDecent(_ message: String) throws(Violation) {
    try require(!message.isEmpty && message.utf8.count < 8192, "a message of \(message.utf8.count) bytes")
    // Bytes first, because nearly every message is ASCII.
    if message.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return }
    for scalar in message.unicodeScalars where !scalar.isASCII || scalar.value < 0x20 || scalar.value == 0x7F {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator:
            throw Violation("a message with U+\(String(scalar.value, radix: 16)): \(message.debugDescription)")
        default: break
        }
    }
}
