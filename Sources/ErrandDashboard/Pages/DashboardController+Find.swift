import Errand
import ErrandOperator
import Foundation
import HTTPTypes
import Hummingbird

extension DashboardController {
    /// Redirects to the job with an id, in whichever queue it is.
    ///
    /// Ids are unique only within a queue, so several jobs may have the same one.
    func find(_ pageRequest: PageRequest) async throws -> Response {
        // Pasted ids often have white space around them.
        let id = (pageRequest.query["id"] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard QueueName.isValid(jobID: id) else {
            return render(try await jobs(after: .bad(Self.notAJobID(id)), pageRequest), pageRequest)
        }
        let (jobs, unreadable) = try await jobs(called: id)
        guard let first = jobs.first else {
            throw PageProblem.notFound(
                (["no queue knows a job \(id); of jobs that have ended only the latest are kept"]
                    + unreadable.map(\.description)).joined(separator: ". ")
            )
        }
        if jobs.count == 1, unreadable.isEmpty {
            let place = "\(base)/queues/\(first.queue)/jobs/\(id)"
            return Response(status: .seeOther, headers: [.location: place])
        }
        let page = Page(
            heading: "Jobs \(id)",
            template: "found",
            content: ["jobs": jobs.map { JobRow(job: $0, moments: MomentView()).values }],
            unreadable: unreadable
        )
        return render(page, pageRequest)
    }

    /// Looks the id up once in every queue.
    private func jobs(called id: String) async throws -> ([JobSummary], [UnreadablePlace]) {
        let (broker, queues) = (broker, try await dashboard.queues.names())
        let (read, unreadable) = try await queues.readingEach { queue throws(BrokerError) in
            try await broker.inspect([id], on: queue).first ?? nil
        }
        return (read.compactMap { queue, record in record.map { JobSummary($0, in: queue) } }, unreadable)
    }
}
