import Mustache

/// Fills the templates in. They are part of the program and parsed once.
struct PageRenderer: Sendable {
    private let library: MustacheLibrary

    init() {
        // Registered again by every dashboard, to the same effect.
        MustacheContentTypes.register(EscapedHTML(), named: "ERRAND_HTML")
        var library = MustacheLibrary()
        for (name, text) in Self.templates {
            // A template that does not parse is a mistake of ours that every test of its page sees.
            if let template = try? MustacheTemplate(string: String(decoding: text, as: UTF8.self)) {
                library.register(template, named: name)
            }
        }
        self.library = library
    }

    func render(_ template: String, _ content: [String: Any]) -> String {
        library.render(content, withTemplate: template) ?? ""
    }

    private static let templates: [(String, [UInt8])] = [
        ("layout", PackageResources.layout_mustache), ("overview", PackageResources.overview_mustache),
        ("queueTable", PackageResources.queueTable_mustache), ("queue", PackageResources.queue_mustache),
        ("workerTable", PackageResources.workerTable_mustache), ("workers", PackageResources.workers_mustache),
        ("jobs", PackageResources.jobs_mustache), ("job", PackageResources.job_mustache),
        ("schedules", PackageResources.schedules_mustache), ("events", PackageResources.events_mustache),
        ("confirm", PackageResources.confirm_mustache), ("run", PackageResources.run_mustache),
        ("actions", PackageResources.actions_mustache), ("problem", PackageResources.problem_mustache),
        ("found", PackageResources.found_mustache),
    ]
}

/// Text in HTML, in an element or in a quoted attribute.
///
/// The library's own escaping looks at characters as people see them: a quote with a combining mark is one, and passes. To
/// a browser it is a quote. Control characters and what turns the direction of text around are shown as they are written.
struct EscapedHTML: MustacheContentType {
    func escapeText(_ text: String) -> String { Self.escape(text) }

    static func escape(_ text: String) -> String {
        var safe = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": safe += "&lt;"
            case ">": safe += "&gt;"
            case "&": safe += "&amp;"
            case "\"": safe += "&quot;"
            case "'": safe += "&#39;"
            case "\n", "\t": safe.unicodeScalars.append(scalar)
            default:
                if scalar.isUnseen {
                    safe += "\\u{\(String(scalar.value, radix: 16))}"
                } else {
                    safe.unicodeScalars.append(scalar)
                }
            }
        }
        return safe
    }
}

extension Unicode.Scalar {
    /// Whether nothing is to be seen of it.
    var isUnseen: Bool {
        switch properties.generalCategory {
        case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
