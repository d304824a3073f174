import Errand
import ErrandOperator

extension DashboardController {
    /// Makes a page of jobs. A filter that is not valid is a message on this page, with what was typed.
    func jobs(_ pageRequest: PageRequest) async throws -> Page {
        let wanted: JobsRequest
        do { wanted = try JobsRequest(pageRequest.query) } catch let problem as PageProblem {
            return try await jobs(after: problem, pageRequest)
        }
        let queues = try await wanted.queues(on: dashboard)
        let counts = try await JobCounts(of: queues, on: broker)
        // Queues of a server that does not reply are not waited for again.
        let lost = Set(counts.unreadable.filter { $0.error.code == .notReachable }.map(\.queue))
        let searched = queues.filter { !lost.contains($0) }
        let list =
            wanted.state == .dead
            ? try await JobList.readDead(wanted, in: searched, counts, on: broker)
            : try await JobList.read(wanted, in: searched, counts, on: broker)
        let content = try await filterContent(wanted, counts).merging(content(of: list, wanted, counts.retries)) { $1 }
        let known = Set(list.unreadable.map(\.queue))
        return Page(
            heading: wanted.state == .dead ? "Dead jobs" : "Jobs",
            template: "jobs",
            content: content,
            unreadable: list.unreadable + counts.unreadable.filter { !known.contains($0.queue) }
        )
    }

    /// Makes a page without jobs after a filter or an id that is not valid.
    func jobs(after problem: PageProblem, _ pageRequest: PageRequest) async throws -> Page {
        let typed = JobsRequest(unchecked: pageRequest.query)
        let counts = try await JobCounts(of: try await dashboard.queues.names(), on: broker)
        let list = JobList(jobs: [], next: nil, extent: "", unreadable: [])
        let content = try await filterContent(typed, counts).merging(content(of: list, typed, counts.retries)) { $1 }
        return Page(
            heading: "Jobs",
            template: "jobs",
            content: content,
            status: problem.status,
            problem: problem.message
        )
    }

    private func content(of list: JobList, _ wanted: JobsRequest, _ retries: DefaultRetries) -> [String: Any] {
        let moments = MomentView()
        let groups = ErrorGroupViews(wanted: wanted, base: base, moments: moments).values(list.groups)
        var content: [String: Any] = [
            "jobs": list.jobs.map { JobRow(job: $0, moments: moments, retries: retries).values },
            "hasJobs": !list.jobs.isEmpty,
            "canSelect": true, "extent": list.extent, "hasGroups": !list.groups.isEmpty,
            "groups": [["rows": groups.first]],
            "otherGroups": [["rows": groups.others]], "hasOtherGroups": !groups.others.isEmpty,
            "groupExtent": list.groupExtent, "ways": wanted.actions.map(Self.way), "hidden": wanted.fields.values,
        ]
        if let next = list.next {
            content["more"] = "\(base)/jobs?\(FormFields(wanted.fields.pairs + [("from", next)]).query)"
        }
        return content
    }

    private static func way(_ action: BulkAction) -> [String: Any] {
        ["way": action.rawValue, "title": action.title, "isDangerous": action != .retry]
    }

    private func filterContent(_ wanted: JobsRequest, _ counts: JobCounts) async throws -> [String: Any] {
        let fields = wanted.fields
        let typed = [
            "queue", "operation", "name", "error", "arguments", "tag", "worker", "since", "until", "state", "group",
        ]
        var content: [String: Any] = [:]
        for key in typed { content["field_\(key)"] = fields[key] ?? "" }
        content["tabs"] = JobTabs(counts: counts, wanted: wanted, base: base).values
        content["operationSuggestions"] = JobCounts.suggestions(counts.operations)
        content["queueSuggestions"] = JobCounts.suggestions(try await dashboard.queues.names())
        content["canBeRunning"] = [nil, .running].contains(wanted.state) || fields["worker"] != nil
        let used = fields.pairs.count { !["state", "group"].contains($0.key) }
        content["filterTitle"] = used == 0 ? "Filter" : "Filter (\(used))"
        content["isFiltered"] = used > 0
        content["chosenGroups"] = fields.all("group").map {
            ["pattern": $0, "without": base + wanted.placeWithoutGroup]
        }
        return content
    }
}
