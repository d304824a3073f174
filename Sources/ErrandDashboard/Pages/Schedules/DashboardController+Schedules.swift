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
            rows += page.records.sorted { $0.name < $1.name }
                .map { ScheduleView(record: $0, queue: queue, moments: moments).values }
            more = page.next.map { SchedulePlace(queue: queue, position: $0) }
            if more != nil { break }
        }
        var content: [String: Any] = ["schedules": rows]
        if let more { content["more"] = "\(base)/schedules?\(more.query)" }
        return Page(heading: "Schedules", template: "schedules", content: content, unreadable: unreadable)
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
        guard queue.isEmpty || QueueName.isValid(queue) else { throw PageProblem.bad("that is no queue's name") }
        if let position, !QueueName.isValid(position) {
            throw PageProblem.bad("that is not a valid position")
        }
    }

    var query: String { "queue=\(queue)" + (position.map { "&from=\($0)" } ?? "") }
}
