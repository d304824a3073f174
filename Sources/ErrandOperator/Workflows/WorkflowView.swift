package import Errand

/// A workflow with its jobs, as operators see it.
package struct WorkflowView: Sendable {
    /// A job of a workflow with its place in the graph.
    package struct Job: Sendable {
        /// The broker's record of it as a member.
        package let member: WorkflowMemberRecord
        /// The length of the longest path to it, from 0.
        package let depth: Int
        /// The jobs that it waits for; empty unless it is blocked.
        package let blockers: [WorkflowMemberRecord]
        /// The job with its attempts and times; `nil` if it was not looked up, or the broker does not have it any more.
        package internal(set) var summary: JobSummary?
    }

    /// The broker's record.
    package let record: WorkflowRecord
    /// The jobs, in the order of their numbers.
    package private(set) var jobs: [Job]

    /// Reads a workflow and all of its jobs; `nil` if the broker does not have it.
    package init?(of id: WorkflowID, on broker: some WorkflowBroker) async throws(BrokerError) {
        guard let record = try await broker.workflow(id) else { return nil }
        var members: [WorkflowMemberRecord] = []
        while true {
            let page = try await broker.members(of: id, from: members.count, count: WorkflowLimits.page)
            members += page
            if page.count < WorkflowLimits.page { break }
        }
        self.init(record, members)
    }

    /// Makes a view of a workflow with these jobs.
    package init(_ record: WorkflowRecord, _ members: [WorkflowMemberRecord]) {
        self.record = record
        let byKey = Dictionary(members.map { ($0.key, $0) }) { first, _ in first }
        let depths = Self.depths(of: members)
        jobs = members.enumerated().map { number, member in
            Job(member: member, depth: depths[number], blockers: member.blockers(byKey))
        }
    }

    /// Needs of jobs that were added later may have higher numbers, so this repeats until nothing changes.
    private static func depths(of members: [WorkflowMemberRecord]) -> [Int] {
        let numbers = Dictionary(members.enumerated().map { ($1.key, $0) }) { first, _ in first }
        let needs = members.map { $0.needs.compactMap { numbers[$0.key] } }
        var depths = Array(repeating: 0, count: members.count)
        // A graph without cycles needs no more rounds than jobs; corrupt data may have one.
        for _ in 0..<min(members.count, 100) {
            var isChanged = false
            for (number, needed) in needs.enumerated() {
                let depth = needed.map { depths[$0] + 1 }.max() ?? 0
                if depth != depths[number] { (depths[number], isChanged) = (depth, true) }
            }
            if !isChanged { break }
        }
        return depths
    }

    /// The jobs by depth, those of one depth in the order of their numbers.
    package var layers: [Job] {
        jobs.enumerated().sorted { ($0.element.depth, $0.offset) < ($1.element.depth, $1.offset) }.map(\.element)
    }
}

extension [WorkflowView.Job] {
    /// Returns the jobs with their attempts and times.
    package func lookedUp(on broker: some ConsoleBroker) async throws(BrokerError) -> [WorkflowView.Job] {
        var found: [String: JobSummary] = [:]
        for (queue, jobs) in Dictionary(grouping: self, by: \.member.queue) {
            let ids = jobs.map(\.member.id)
            for first in stride(from: 0, to: ids.count, by: 250) {
                let records = try await broker.inspect([String](ids[first...].prefix(250)), on: queue)
                for record in records.compactMap(\.self) {
                    found["\(queue):\(record.id)"] = JobSummary(record, in: queue)
                }
            }
        }
        return map { job in
            var job = job
            job.summary = found["\(job.member.queue):\(job.member.id)"]
            return job
        }
    }
}

extension WorkflowMemberRecord {
    fileprivate func blockers(_ members: [String: WorkflowMemberRecord]) -> [WorkflowMemberRecord] {
        // Other versions of the broker may have more states that wait.
        guard state.rawValue == "blocked" else { return [] }
        return needs.compactMap { need in
            guard let needed = members[need.key] else { return nil }
            let isHeld = needed.state == .dead && need.condition == .success
            return isHeld || !needed.state.hasEnded ? needed : nil
        }
    }
}
