/// The keys of a workflow's description, and those of its jobs besides the keys of a description.
enum WorkflowKey: String, CaseIterable {
    case version = "v"
    case workflow
    case queue
    case unique
    case onDead = "on_dead"
    case jobs
    case onSuccess = "on_success"
    case onFailure = "on_failure"

    /// The key of what a job comes after.
    static let after = "after"
    /// The key of how that must end.
    static let when = "when"

    /// The rule for a value of this key, as the end of the sentence "it must be …".
    var rule: String {
        switch self {
        case .version: "the number 1, the only version supported here"
        case .workflow: "the workflow's name, text of 1 to 1024 bytes in UTF-8"
        case .queue: DescriptionKey.queue.rule
        case .unique: "\"drop\" or \"replace\"; leave it out to push workflows of the same name side by side"
        case .onDead: DeadMemberPolicy.words
        case .jobs: "an object with 1 to 100,000 jobs by their keys"
        case .onSuccess, .onFailure: "the description of a job, a JSON object with \"operation\""
        }
    }

    /// Throws if a value of this key is invalid.
    func check(_ isRight: Bool) throws(WorkflowError) {
        guard isRight else { throw WorkflowError(.invalidValue, [rawValue], "must be \(rule)") }
    }

    /// The rule for keys of jobs, as the end of the sentence "it must be …".
    static let jobRule = "1 to 128 characters, each one of A-Z a-z 0-9 _ . : -"
}

extension CaseIterable where Self: RawRepresentable<String> {
    /// The words for people: `"hold", "cancel_rest" or "ignore"`.
    static var words: String {
        let words = allCases.map { "\"\($0.rawValue)\"" }
        return words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
    }
}
