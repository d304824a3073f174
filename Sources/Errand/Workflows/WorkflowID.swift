/// The id of a workflow: its home queue, a colon, and a token of 16 letters and digits.
///
/// The home queue has the workflow's graph and decides when its jobs run.
public struct WorkflowID: Sendable, Hashable, LosslessStringConvertible {
    /// The home queue.
    public let queue: String
    /// What distinguishes the workflows of a queue. The ids of its jobs are this token, a hyphen and the number of the job
    /// from 0, unless another job has taken the place of one, or a running job has added it: then it has another id.
    package let token: String

    package init(queue: String, token: String) {
        self.queue = queue
        self.token = token
    }

    /// Reads an id; `nil` if the text is none.
    public init?(_ description: String) {
        guard let colon = description.firstIndex(of: ":") else { return nil }
        let queue = String(description[..<colon])
        let token = String(description[description.index(after: colon)...])
        guard QueueName.isValid(queue), Self.isToken(token) else { return nil }
        self.init(queue: queue, token: token)
    }

    /// The text of the id, such as `mail:4fJ0aQ9bX2cD7eHk`.
    public var description: String { "\(queue):\(token)" }

    /// The id of the job of this number.
    package func job(_ number: Int) -> String { "\(token)-\(number)" }

    static func isToken(_ text: String) -> Bool {
        text.utf8.count == 16
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: false
                }
            }
    }
}
