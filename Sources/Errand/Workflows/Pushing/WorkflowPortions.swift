/// Divides the jobs of a workflow into calls of at most 150 jobs and needs together, and a few MiB.
struct WorkflowPortions: Sequence, IteratorProtocol {
    /// The size of the jobs in bytes above which no further one is added to a call.
    static let fullBytes = 1 << 20

    private var rest: ArraySlice<WorkflowMember>
    /// The needs of the first member of the rest that earlier calls did not have.
    private var leftNeeds: ArraySlice<WorkflowNeed>?

    init(_ members: [WorkflowMember]) { rest = ArraySlice(members) }

    /// Returns the jobs of the next call; `nil` after the last.
    ///
    /// A member with more needs than a call may have is in several calls, each with a part of its needs.
    mutating func next() -> [WorkflowMember]? {
        var portion: [WorkflowMember] = []
        var room = WorkflowLimits.sent
        var bytes = 0
        while let member = rest.first, bytes < Self.fullBytes {
            let needs = leftNeeds ?? member.needs[...]
            let isWhole = needs.count < room
            // Only a member that fits no call is divided, and it begins one.
            guard isWhole || portion.isEmpty else { break }
            let taken = needs.prefix(room - 1)
            portion.append(
                WorkflowMember(job: member.job, number: member.number, key: member.key, needs: Array(taken))
            )
            bytes += member.job.bytes.count
            room -= taken.count + 1
            leftNeeds = isWhole ? nil : needs.dropFirst(taken.count)
            if isWhole { rest = rest.dropFirst() }
        }
        return portion.isEmpty ? nil : portion
    }
}
