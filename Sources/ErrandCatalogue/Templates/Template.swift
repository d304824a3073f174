package import Errand
import ErrandText

/// A text with placeholders for arguments: `checksum {path}`. `{{` and `}}` stand for braces.
package struct Template: Sendable, Equatable {
    enum Part: Sendable, Equatable {
        case text(String)
        case argument(String)
    }

    /// The original text.
    package let source: String
    let parts: [Part]

    /// Parses a template.
    ///
    /// - Parameter source: The text; an argument's name is any text without braces, double quotes, and colons before a space.
    /// - Throws: ``TemplateSyntaxError`` for a brace without its partner, an empty name, a name that looks like JSON, or a
    ///   NUL character.
    package init(_ source: String) throws(TemplateSyntaxError) {
        var reader = TemplateReader(source: source)
        self.init(source: source, parts: try reader.parts())
    }

    /// Makes a template of parts.
    init(source: String, parts: [Part]) {
        self.source = source
        self.parts = parts
    }

    /// Whether the template has placeholders.
    package var hasArguments: Bool {
        parts.contains { if case .argument = $0 { true } else { false } }
    }

    /// The text besides the arguments.
    var literal: String {
        parts.reduce(into: "") { text, part in if case .text(let literal) = part { text += literal } }
    }

    /// The number of UTF-8 bytes besides the arguments.
    package var literalBytes: Int {
        parts.reduce(0) { sum, part in if case .text(let text) = part { sum + text.utf8.count } else { sum } }
    }

    /// Replaces the placeholders by arguments, which are only split if there is a placeholder.
    ///
    /// - Throws: ``ArgumentError`` if an argument is missing or null or contains a NUL character, or if arguments are
    ///   needed but are not an object.
    package func render(_ arguments: JSONText) throws(ArgumentError) -> String {
        try render(hasArguments ? ArgumentFields(arguments) : .none)
    }

    /// Replaces the placeholders by arguments, each encoded for its place.
    func render(_ fields: ArgumentFields, encode: (String) -> String = { $0 }) throws(ArgumentError) -> String {
        var text = ""
        for part in parts {
            switch part {
            case .text(let literal): text += literal
            case .argument(let name): text += encode(try fields.text(of: name))
            }
        }
        return text
    }
}

/// The error for a text that is not a template.
package struct TemplateSyntaxError: Error, CustomStringConvertible {
    /// The original text, shortened; `nil` if it is not to be shown.
    let source: String?
    /// The problem, without the text.
    let reason: String

    /// The problem, and how to write it.
    package var description: String { (source.map { "\"\($0)\" " } ?? "") + reason }
}

/// Splits a template into its parts.
private struct TemplateReader {
    let source: String
    private var text = ""
    private var found: [Template.Part] = []

    init(source: String) {
        self.source = source
    }

    mutating func parts() throws(TemplateSyntaxError) -> [Template.Part] {
        var rest = Substring(source).unicodeScalars
        while let scalar = rest.popFirst() {
            switch scalar {
            case "{" where rest.first == "{", "}" where rest.first == "}":
                rest.removeFirst()
                text.unicodeScalars.append(scalar)
            case "{": try takeArgument(from: &rest)
            case "}": throw error("has a closing brace without an opening one; write }} for a brace")
            case "\0": throw error("holds a NUL character")
            default: text.unicodeScalars.append(scalar)
            }
        }
        flush()
        return found
    }

    private mutating func takeArgument(from rest: inout Substring.UnicodeScalarView) throws(TemplateSyntaxError) {
        guard let end = rest.firstIndex(where: { $0 == "}" || $0 == "{" }) else {
            throw error("has an opening brace without a closing one; write {{ for a brace")
        }
        let name = String(rest[..<end])
        // Such as a text of JSON, which may contain a password.
        guard rest[end] == "}", !name.contains("\""), !name.contains(": ") else {
            let reason = "a text has a brace that begins no {argument}; write {{ and }} for braces that are part of it"
            throw TemplateSyntaxError(source: nil, reason: reason)
        }
        guard !name.isEmpty else { throw error("has braces without an argument's name; write {{}} for braces") }
        flush()
        found.append(.argument(name))
        rest = rest[rest.index(after: end)...]
    }

    private mutating func flush() {
        if !text.isEmpty { found.append(.text(text)) }
        text = ""
    }

    private func error(_ reason: String) -> TemplateSyntaxError {
        // The reason follows it, and long errors are cut off.
        TemplateSyntaxError(source: source.shortened(to: 100), reason: reason)
    }
}
