import Errand

/// What the broker says of the jobs of one call.
struct PushedPortion {
    /// The receipts; `nil` for jobs that were refused because their group is full.
    private(set) var receipts: [Receipt?] = []
    /// The first of those groups.
    private(set) var fullGroup: String?

    /// Makes a portion with receipts.
    init(receipts: [Receipt?] = []) { self.receipts = receipts }

    /// Adds one text of the push script's reply. Returns whether it is valid.
    mutating func add(_ verdict: RESPValue, job: String, queue: String) -> Bool {
        if let text = verdict.text, text.hasPrefix("f:"), let group = GroupName(String(text.dropFirst(2))) {
            fullGroup = fullGroup ?? group.text
            receipts.append(nil)
            return true
        }
        guard let receipt = Receipt(verdict, job: job, queue: queue) else { return false }
        receipts.append(receipt)
        return true
    }
}
