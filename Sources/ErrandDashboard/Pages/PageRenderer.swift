import Mustache

/// A renderer of the templates, which are part of the program and parsed once.
struct PageRenderer: Sendable {
    private let library: MustacheLibrary

    init() {
        // Every dashboard registers it again, with the same effect.
        MustacheContentTypes.register(EscapedHTML(), named: "ERRAND_HTML")
        var library = MustacheLibrary()
        for (name, text) in Self.templates {
            // A template that does not parse is a bug, which every test of its page finds.
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
        ("workerRows", PackageResources.workerRows_mustache), ("push", PackageResources.push_mustache),
        ("workers", PackageResources.workers_mustache),
        ("jobs", PackageResources.jobs_mustache), ("job", PackageResources.job_mustache),
        ("schedules", PackageResources.schedules_mustache), ("events", PackageResources.events_mustache),
        ("confirm", PackageResources.confirm_mustache), ("run", PackageResources.run_mustache),
        ("actions", PackageResources.actions_mustache), ("problem", PackageResources.problem_mustache),
        ("found", PackageResources.found_mustache), ("charts", PackageResources.charts_mustache),
        ("times", PackageResources.times_mustache), ("timesCells", PackageResources.timesCells_mustache),
        ("found", PackageResources.found_mustache), ("moment", PackageResources.moment_mustache),
        ("jobRows", PackageResources.jobRows_mustache), ("jobFilter", PackageResources.jobFilter_mustache),
        ("schedule", PackageResources.schedule_mustache), ("errorGroups", PackageResources.errorGroups_mustache),
        ("groups", PackageResources.groups_mustache), ("ruleForm", PackageResources.ruleForm_mustache),
        ("workflow", PackageResources.workflow_mustache), ("workflows", PackageResources.workflows_mustache),
    ]
}

/// Escaped text in HTML, for an element or a quoted attribute.
///
/// The library's own escaping works on characters: a quote with a combining mark is one character, and passes, but a
/// browser sees a quote. Control characters and those that change the direction of text are shown as escapes.
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
    /// Whether the character is invisible.
    var isUnseen: Bool {
        switch properties.generalCategory {
        case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
