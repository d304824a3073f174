import Yams

/// An error of the YAML parser in words that say what to do, with its position.
struct YAMLProblem {
    let reason: String
    let line: Int?

    /// Explains an error of Yams. The lines of the text are left out, because they may contain a password.
    init(_ error: any Error) {
        switch error as? YamlError {
        case .composer(_, "but found another document", let mark, _):
            (reason, line) = ("holds a second document, which begins after \"---\"; a file holds one", mark.line)
        case .scanner(let context, "found unexpected end of stream", let mark, _):
            // The parser stops at the end of the file, far from the quote.
            let place = context?.mark ?? mark
            (reason, line) = (Self.syntax("the quote that begins here is not closed", place), place.line)
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            (reason, line) = (Self.syntax(Self.explained(problem, context), mark), mark.line)
        case .duplicatedKeysInMapping(let keys, let context):
            (reason, line) = ("has a key twice: \(keys.joined(separator: ", "))", context.mark.line)
        case .reader("control characters are not allowed", let offset?, let value, let yaml):
            reason = "has a control character (U+\(Self.hexadecimal(value))); remove it"
            line = 1 + yaml.prefix(offset).count { $0.isNewline }
        case .reader(let problem, let offset, _, _):
            let place = offset.map { " (at character \($0 + 1))" } ?? ""
            (reason, line) = ("is neither YAML nor JSON: \(problem)\(place)", nil)
        default: (reason, line) = ("is neither YAML nor JSON", nil)
        }
    }

    private static func syntax(_ problem: String, _ mark: Mark) -> String {
        "is neither YAML nor JSON: \(problem) (column \(mark.column))"
    }

    private static func hexadecimal(_ value: Int32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// Returns what to do about a problem of the parser, or the problem itself.
    private static func explained(_ problem: String, _ context: YamlError.Context?) -> String {
        let opened = context.map { "that begins in line \($0.mark.line)" } ?? "here"
        switch problem {
        case "did not find expected alphabetic or numeric character":
            let sign = context?.text == "while scanning an anchor" ? "&" : "*"
            return "a text that begins with \"\(sign)\" must be quoted"
        case "found undefined alias":
            return "a text that begins with \"*\" must be quoted; as an alias, it has no anchor (&name) above it"
        case "found character that cannot start any token":
            return "a line is indented with a tab (use spaces), or a text begins with @, % or a backquote (quote it)"
        case "mapping values are not allowed in this context":
            return "\": \" is inside a text (quote the text), or the indentation is wrong"
        case "did not find expected key", "did not find expected '-' indicator":
            return "the indentation is wrong, or something follows a closing quote, bracket or brace"
        case "could not find expected ':'":
            return "a key has no \":\" with a space after it"
        case "did not find expected ',' or ']'":
            return "the list \(opened) lacks a comma or its closing bracket"
        case "did not find expected ',' or '}'":
            return "the mapping \(opened) lacks a comma or its closing brace"
        case "found unknown escape character":
            return "a backslash in double quotes begins an escape; double it, or use single quotes"
        default: return problem
        }
    }
}
