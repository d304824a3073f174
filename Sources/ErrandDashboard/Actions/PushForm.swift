import Errand
import ErrandOperator
import ErrandText
import Foundation

/// The form for a new job.
enum PushForm {
    private static let keys = [
        "queue", "operation", "arguments", "name", "delay", "priority", "group", "cost", "timeout", "retries", "tags",
    ]

    /// The fields' names by the keys of descriptions.
    private static let names = ValueNames([
        "operation": "operation", "arguments": "arguments", "queue": "queue", "name": "name", "timeout_ms": "timeout",
        "not_before_ms": "delay", "retries": "retries", "priority": "priority", "group": "group", "cost": "cost",
        "tags": "tags",
    ])

    /// Makes the description of the job. The library checks its values.
    ///
    /// - Throws: `PageProblem` for the first field that is not valid.
    static func description(
        _ form: FormFields,
        now: Int64 = Int64(Date().timeIntervalSince1970 * 1000)
    ) throws -> OperationDescription {
        do { return try checked(form, now) } catch let error as DescriptionError {
            throw PageProblem.bad(names.explanation(of: error))
        }
    }

    private static func checked(_ form: FormFields, _ now: Int64) throws -> OperationDescription {
        guard let operation = form["operation"] else { throw PageProblem.bad("operation: name the operation") }
        let delay = try duration(form, "delay")
        return try OperationDescription(
            operation,
            arguments: try arguments(form),
            queue: form["queue"],
            name: form["name"],
            unique: try policy(form),
            timeout: try duration(form, "timeout"),
            notBefore: delay.map { now.addingReportingOverflow(Int64($0.wholeMilliseconds)).partialValue },
            retries: try form.number("retries"),
            priority: try form.number("priority"),
            group: form["group"],
            cost: try form.number("cost"),
            tags: tags(form)
        )
    }

    private static func tags(_ form: FormFields) -> [String] {
        let words = (form["tags"] ?? "").split(separator: ",")
        return words.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private static func arguments(_ form: FormFields) throws -> JSONText {
        let text = Array(TextEncoding.withoutMark(form["arguments"] ?? "{}").utf8)
        do { return try JSONText(validating: text) } catch {
            throw PageProblem.bad(error.explanation(inArguments: text))
        }
    }

    private static func policy(_ form: FormFields) throws -> UniquenessPolicy? {
        try form["unique"].map { text in
            guard let policy = UniquenessPolicy(rawValue: text) else {
                throw PageProblem.bad("unique: there is no policy of that name")
            }
            return policy
        }
    }

    private static func duration(_ form: FormFields, _ key: String) throws -> Duration? {
        try form[key].map { text in
            do { return try DurationText.parse(text) } catch { throw PageProblem.bad("\(key): \(error)") }
        }
    }

    /// Returns what was typed, for the template.
    static func values(_ typed: FormFields) -> [String: Any] {
        var values: [String: Any] = [:]
        for key in keys { values["field_\(key)"] = FormJSON.text(typed[key] ?? "") }
        values["policies"] = UniquenessPolicy.allCases.filter { !$0.hasWindow }.map { policy in
            ["value": policy.rawValue, "isChosen": typed["unique"] == policy.rawValue] as [String: Any]
        }
        return values
    }
}

/// The operations that live workers can run, with the queues that these serve.
struct PushSuggestions {
    private static let most = 500

    let values: [[String: Any]]

    init(_ workers: [Overview.Worker]) {
        var queues: [String: Set<String>] = [:]
        for worker in workers {
            for operation in worker.session.operations { queues[operation, default: []].formUnion(worker.queues) }
        }
        values = queues.sorted { $0.key < $1.key }.prefix(Self.most).map { operation, queues in
            ["value": operation, "label": "in \(queues.sorted().prefix(10).joined(separator: ", "))"]
        }
    }
}
