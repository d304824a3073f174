import Errand
import ErrandOperator

extension DashboardController {
    private static let schedulesAPage = 100

    /// Makes a page of the schedules of all queues.
    func schedules(_ pageRequest: PageRequest) async throws -> Page {
        let start = try SchedulePlace(pageRequest.query)
        var (rows, more): ([[String: Any]], SchedulePlace?) = ([], nil)
        var unreadable: [UnreadablePlace] = []
        let moments = MomentView()
        for queue in try await dashboard.queues.names() where queue >= start.queue {
            more = SchedulePlace(queue: queue, position: nil)
            if rows.count >= Self.schedulesAPage { break }
            let page: SchedulePage
            do throws(BrokerError) {
                page = try await broker.schedules(on: queue, from: queue == start.queue ? start.position : nil)
            } catch {
                // The broker may have rejected the position from the query.
                if error.code == .refused, queue == start.queue, start.position != nil {
                    throw PageProblem.bad(error.message)
                }
                guard error.isOfOnePlace else { throw error }
                unreadable.append(UnreadablePlace(queue: queue, error: error))
                more = nil
                continue
            }
            let records = page.records.sorted { $0.name < $1.name }
            let jobs = try await lastJobs(of: records, in: queue)
            rows += zip(records, jobs).map { record, job in
                ScheduleView(record: record, queue: queue, lastJob: job, moments: moments).values
            }
            more = page.next.map { SchedulePlace(queue: queue, position: $0) }
            if more != nil { break }
        }
        var content: [String: Any] = ["schedules": rows]
        if let more { content["more"] = "\(base)/schedules?\(more.query)" }
        return Page(heading: "Schedules", template: "schedules", content: content, unreadable: unreadable)
    }

    /// Returns the job of each schedule's last tick; `nil` if the broker does not have it any more.
    private func lastJobs(of records: [ScheduleRecord], in queue: String) async throws(BrokerError) -> [JobRecord?] {
        let ids = records.map { record in record.lastTick.flatMap { record.schedule?.id(ofTick: $0) } }
        let known = try await broker.inspect(ids.compactMap(\.self), on: queue).compactMap(\.self)
        let jobs = Dictionary(known.map { ($0.id, $0) }) { $1 }
        return ids.map { $0.flatMap { jobs[$0] } }
    }
}

/// The place where a page of schedules begins.
private struct SchedulePlace {
    var queue: String
    var position: String?

    init(queue: String, position: String?) {
        self.queue = queue
        self.position = position
    }

    /// - Throws: `PageProblem` for a place that no page links to.
    init(_ fields: FormFields) throws {
        queue = fields["queue"] ?? ""
        position = fields["from"]
        guard queue.isEmpty || QueueName.isValid(queue) else { throw PageProblem.notAQueue(queue) }
        if let position, !QueueName.isValid(position) {
            throw PageProblem.noSuchPosition
        }
    }

    var query: String { "queue=\(queue)" + (position.map { "&from=\($0)" } ?? "") }
}
