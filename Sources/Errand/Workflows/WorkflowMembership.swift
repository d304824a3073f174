/// The workflow that a job belongs to, and the job's name within it.
public struct WorkflowMembership: Sendable, Hashable {
    /// The workflow.
    public let id: WorkflowID
    /// The job's key: 1 to 128 characters of `A-Z a-z 0-9 _ . : -`.
    public let key: String

    package init(id: WorkflowID, key: String) {
        self.id = id
        self.key = key
    }

    /// Reads the object of a description; `nil` if it is anything but `{"id":"…","key":"…"}`.
    init?(_ object: JSONText) {
        let members = object.members
        guard members.count == 2,
            let id = members.first(where: { $0.key == "id" })?.value.string.flatMap(WorkflowID.init),
            let key = members.first(where: { $0.key == "key" })?.value.string, WorkflowLimits.isKey(key)
        else { return nil }
        self.init(id: id, key: key)
    }
}
