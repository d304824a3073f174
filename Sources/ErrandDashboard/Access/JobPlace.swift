/// A job that an entry of the log of actions names.
struct JobPlace: Sendable {
    let id: String
    let queue: String

    /// The name of the job in the log.
    var words: String { "job \(id) of \(queue)" }
    /// The path of its page.
    var path: String { "/queues/\(queue)/jobs/\(id)" }

    /// Returns the words of a text for a template, with the places of those that are ids of these jobs.
    static func linked(_ text: String, _ jobs: [JobPlace]) -> [[String: Any]] {
        text.split(separator: " ", omittingEmptySubsequences: false).enumerated().map { index, word in
            let place = jobs.first { $0.id == word }
            let values: [String: Any] = ["word": String(word), "gap": index == 0 ? "" : " ", "isPlain": place == nil]
            return values.merging(["places": place.map { [["path": $0.path]] } ?? []]) { $1 }
        }
    }
}
