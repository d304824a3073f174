import Errand

/// Examines workflows, and looks for their jobs in other queues.
extension QueueAudit {
    /// A job of a workflow that was sent to another queue and has not ended.
    private struct JobElsewhere {
        let number: String
        let id: String
        let queue: String
    }

    mutating func walkWorkflows() async throws(BrokerError) {
        take(try await messages())
        let workflows = try await walk("workflows")
        for workflow in workflows {
            let words = try await walk("open_jobs", workflow)
            let jobs = stride(from: 0, to: words.count - 2, by: 3).map {
                JobElsewhere(number: words[$0], id: words[$0 + 1], queue: words[$0 + 2])
            }
            for (queue, jobs) in Dictionary(grouping: jobs, by: \.queue) {
                try await look(for: jobs, of: workflow, in: queue)
            }
            _ = try await walk("needs", workflow)
        }
        // One repaired end may let thousands of jobs go on.
        if repair, !workflows.isEmpty { await broker.continueWorkflows(of: queue, calls: 10_000) }
    }

    /// Finds late messages and pushes that were broken off. A repair does what a worker would have done.
    private func messages() async throws(BrokerError) -> AuditPage {
        let found = try await step("messages")
        guard repair, !found.findings.isEmpty else { return found }
        await broker.continueWorkflows(of: queue, calls: 10_000)
        return found.with(isRepaired: try await step("messages").findings.isEmpty)
    }

    /// Finds jobs that another queue does not have, or that have ended there, although nothing is left to be told: each
    /// queue may have lost what a server had not saved, and the other one not.
    private mutating func look(
        for jobs: [JobElsewhere],
        of workflow: String,
        in queue: String
    ) async throws(BrokerError) {
        // Nothing is certain about a queue that cannot be read; it has an audit of its own.
        guard let records = await records(of: jobs, in: queue) else { return }
        for (job, record) in zip(jobs, records) {
            guard let ending = Self.ending(of: record) else { continue }
            take(try await step("lost_job", workflow, job.number, job.id, ending))
        }
    }

    /// The records of jobs; `nil` if messages about them may be on their way.
    private func records(of jobs: [JobElsewhere], in queue: String) async -> [JobRecord?]? {
        do throws(BrokerError) {
            let records = try await broker.inspect(jobs.map(\.id), on: queue)
            // What had happened there until then is known here as soon as no message is left.
            return try await broker.hasMessages(queue) ? nil : records
        } catch { return nil }
    }

    /// The letter of how a job has ended; `nil` if it has not. One that is unknown counts as deleted.
    private static func ending(of record: JobRecord?) -> String? {
        switch record?.state {
        case nil, .deleted, .replaced: "x"
        case .finished: "f"
        case .cancelled: "c"
        case .expired: "e"
        case .skipped: "k"
        case .ready, .scheduled, .retrying, .deferred, .blocked, .running, .dead: nil
        }
    }
}
