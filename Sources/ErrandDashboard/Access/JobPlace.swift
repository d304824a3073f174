import Errand

/// A job or a workflow that an entry of the log of actions names.
struct JobPlace: Sendable {
    /// The id of the job or of the workflow.
    let id: String
    /// The name of the job or of the workflow in the log.
    let words: String
    /// The path of its page.
    let path: String

    /// Makes the place of a job.
    init(id: String, queue: String) {
        self.id = id
        words = "job \(id) of \(queue)"
        path = "/queues/\(queue)/jobs/\(id)"
    }

    /// Makes the place of a workflow.
    init(_ workflow: WorkflowID) {
        id = workflow.description
        words = "workflow \(workflow)"
        path = "/workflows/\(workflow)"
    }

    /// Returns the words of a text for a template, with the places of those that are ids of these jobs.
    static func linked(_ text: String, _ jobs: [JobPlace]) -> [[String: Any]] {
        text.split(separator: " ", omittingEmptySubsequences: false).enumerated().map { index, word in
            let place = jobs.first { $0.id == word }
            let values: [String: Any] = ["word": String(word), "gap": index == 0 ? "" : " ", "isPlain": place == nil]
            return values.merging(["places": place.map { [["path": $0.path]] } ?? []]) { $1 }
        }
    }
}
