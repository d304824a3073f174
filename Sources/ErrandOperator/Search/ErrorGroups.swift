import Errand

/// Dead jobs with the same error, up to numbers and ids; see ``ErrorPattern``.
package struct ErrorGroup: Sendable {
    /// The pattern of the error.
    package let pattern: String
    /// The number of jobs among those that were examined.
    package private(set) var count = 0
    /// When the first of these jobs died, in milliseconds since 1970 UTC.
    package private(set) var first: Int64?
    /// When the last of these jobs died, in milliseconds since 1970 UTC.
    package private(set) var last: Int64?
    /// The job that died last.
    package let example: JobSummary
    /// The operations of the jobs, with the number of jobs of each.
    package private(set) var operations: [String: Int] = [:]

    fileprivate init(_ pattern: String, example: JobSummary) { (self.pattern, self.example) = (pattern, example) }

    fileprivate mutating func add(_ job: JobSummary) {
        count += 1
        if let time = job.record.at {
            first = min(first ?? time, time)
            last = max(last ?? time, time)
        }
        operations[job.operation ?? "–", default: 0] += 1
    }

    /// The operations, those of the most jobs first.
    package var operationsByCount: [String] {
        operations.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
    }
}

/// The dead jobs by error, of a bounded number of the newest ones.
package struct ErrorGroups: Sendable {
    /// The groups; those of the most jobs first, of equal ones those with the newest job.
    package let groups: [ErrorGroup]

    /// Returns the limits of the jobs to examine, so that a view with 100,000 dead jobs stays fast.
    ///
    /// Without a filter every job has to be grouped, too, so less time is left to read them.
    package static func limits(for filter: JobFilter) -> JobSearch.Limits {
        JobSearch.Limits(found: 5000, looked: 20_000, time: .milliseconds(filter.isEmpty ? 100 : 150))
    }

    /// Groups jobs, which are sorted from the newest.
    package init(_ jobs: [JobSummary]) {
        var (groups, places): ([ErrorGroup], [String: Int]) = ([], [:])
        for job in jobs {
            let pattern = ErrorPattern.of(job.error)
            let place = places[pattern] ?? groups.count
            if place == groups.count {
                places[pattern] = place
                groups.append(ErrorGroup(pattern, example: job))
            }
            groups[place].add(job)
        }
        self.groups = groups.enumerated().sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }
            .map(\.element)
    }
}

extension ErrorGroup {
    /// The group as JSON for programs.
    package var json: JSONOutput {
        let counts = operationsByCount.map { (key: $0, value: JSONOutput.count(operations[$0] ?? 0)) }
        return [
            "pattern": .text(pattern), "count": .count(count), "first_ms": .number(orNull: first),
            "last_ms": .number(orNull: last), "operations": .object(counts),
            "example": [
                "id": .text(example.record.id), "queue": .text(example.queue), "error": .text(orNull: example.error),
            ],
        ]
    }
}
