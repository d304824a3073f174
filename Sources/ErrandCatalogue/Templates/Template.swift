/// A text with places for arguments: `checksum {path}`. `{{` and `}}` stand for braces.
package struct Template: Sendable, Equatable {
    enum Part: Sendable, Equatable {
        case text(String)
        case argument(String)
    }

    /// The text as it was written.
    package let source: String
    let parts: [Part]

    /// Reads a template.
    ///
    /// - Parameter source: The text; an argument's name is anything but braces.
    /// - Throws: ``TemplateSyntaxError`` for a brace without its partner, an empty name or a NUL character.
    package init(_ source: String) throws(TemplateSyntaxError) {
        self.source = source
        var reader = TemplateReader(source: source)
        self.parts = try reader.parts()
    }

    /// Whether arguments are needed to fill it in.
    package var hasArguments: Bool {
        parts.contains { if case .argument = $0 { true } else { false } }
    }

    /// How many bytes it has besides its arguments, in UTF-8.
    package var literalBytes: Int {
        parts.reduce(0) { sum, part in if case .text(let text) = part { sum + text.utf8.count } else { sum } }
    }

    /// Fills in the arguments.
    ///
    /// - Parameter arguments: The arguments object.
    /// - Throws: ``ArgumentError`` if an argument is missing or null or holds a NUL character.
    package func render(_ arguments: ArgumentFields) throws(ArgumentError) -> String {
        var text = ""
        for part in parts {
            switch part {
            case .text(let literal): text += literal
            case .argument(let name): text += try arguments.text(of: name)
            }
        }
        return text
    }

    /// Fills in the arguments from their JSON text, which is looked at only if the template has a place for one.
    ///
    /// - Parameter arguments: Any JSON value.
    /// - Throws: ``ArgumentError`` as ``render(_:)``, and if the arguments are needed but no valid JSON object.
    package func render(json arguments: [UInt8]) throws(ArgumentError) -> String {
        try render(hasArguments ? ArgumentFields(json: arguments) : .none)
    }
}

/// Why a text is not a template.
package struct TemplateSyntaxError: Error, CustomStringConvertible {
    /// The text as it was written.
    package let source: String
    /// What is wrong, without the text.
    let reason: String

    /// What is wrong, and how to write it.
    package var description: String { "\"\(source)\" \(reason)" }
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
        guard let end = rest.firstIndex(where: { $0 == "}" || $0 == "{" }), rest[end] == "}" else {
            throw error("has an opening brace without a closing one; write {{ for a brace")
        }
        let name = String(rest[..<end])
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
        TemplateSyntaxError(source: source, reason: reason)
    }
}
