import Errand
import ErrandOperator
import Foundation
import HTTPTypes
import Hummingbird

extension DashboardController {
    /// Leads to the job of an id, in whichever queue it is.
    ///
    /// Ids are unique within a queue only, so that several may have one.
    func find(_ pageRequest: PageRequest) async throws -> Response {
        // Who pastes an id pastes what is around it.
        let id = (pageRequest.query["id"] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard QueueName.isValid(jobID: id) else {
            throw PageProblem.bad("that is no job's id: they have up to 64 letters, digits, hyphens and underscores")
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
            content: ["jobs": jobs.map(Self.row)],
            unreadable: unreadable
        )
        return render(page, pageRequest)
    }

    /// Asks every queue once.
    private func jobs(called id: String) async throws -> ([JobSummary], [UnreadablePlace]) {
        let (broker, queues) = (broker, try await broker.queues())
        let (read, unreadable) = try await queues.readingEach { queue throws(BrokerError) in
            try await broker.inspect([id], on: queue).first ?? nil
        }
        return (read.compactMap { queue, record in record.map { JobSummary($0, in: queue) } }, unreadable)
    }
}
