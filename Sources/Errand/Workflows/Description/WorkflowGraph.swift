/// What the jobs of a workflow come after, and an order in which no job precedes one that it comes after.
struct WorkflowGraph: Sendable, Equatable {
    /// The positions of what each job comes after, by the position of the job.
    let needs: [[Int]]
    /// The positions of the jobs: each one after those that it comes after, otherwise as they were written.
    let order: [Int]

    /// Checks the jobs' keys and what they come after.
    ///
    /// - Parameter given: jobs besides these to come after, by their keys, which a workflow has already.
    init(_ jobs: [WorkflowDescription.Job], given: Set<String> = []) throws(WorkflowError) {
        let positions = try Self.positions(of: jobs)
        var needs: [[Int]] = []
        needs.reserveCapacity(jobs.count)
        for job in jobs { needs.append(try Self.needs(of: job, positions, given)) }
        try Self.checkDependants(needs, jobs)
        self.needs = needs
        order = try Self.order(of: jobs, needs)
    }

    private static func positions(of jobs: [WorkflowDescription.Job]) throws(WorkflowError) -> [String: Int] {
        let place = WorkflowKey.jobs.rawValue
        guard !jobs.isEmpty else { throw WorkflowError(.missingKey, [place], "has no jobs; add at least one") }
        guard jobs.count <= WorkflowLimits.members else {
            throw WorkflowError(.tooLarge, [place], "has \(jobs.count) jobs, at most 100,000 are allowed; split it")
        }
        var positions: [String: Int] = [:]
        positions.reserveCapacity(jobs.count)
        for (position, job) in jobs.enumerated() {
            guard WorkflowLimits.isKey(job.key) else { throw .badKey(job.key) }
            guard positions.updateValue(position, forKey: job.key) == nil else {
                let message = "is there twice; each job of a workflow needs a key of its own"
                throw WorkflowError(.duplicateKey, [place, job.key], message)
            }
        }
        return positions
    }

    private static func needs(
        of job: WorkflowDescription.Job,
        _ positions: [String: Int],
        _ given: Set<String>
    ) throws(WorkflowError) -> [Int] {
        var needs: [Int] = []
        var seen = Set<String>()
        for (index, key) in job.after.enumerated() {
            let place = job.placeOfNeed(index)
            guard key != job.key else {
                throw WorkflowError(.invalidValue, place, "names the job itself, which would never run; remove it")
            }
            guard seen.insert(key).inserted else {
                throw WorkflowError(.duplicateKey, place, "names \"\(key)\" a second time; remove it")
            }
            if given.contains(key) { continue }
            guard let position = positions[key] else {
                let message = "no job has the key \"\(key)\"; add the job, or correct the key"
                throw WorkflowError(.invalidValue, place, message)
            }
            needs.append(position)
        }
        guard job.after.isEmpty, job.when != .success else { return needs }
        let message = "is \"\(job.when.rawValue)\", but the job comes after no other; add \"after\", or leave it out"
        throw WorkflowError(.invalidValue, [WorkflowKey.jobs.rawValue, job.key, WorkflowKey.when], message)
    }

    private static func checkDependants(
        _ needs: [[Int]],
        _ jobs: [WorkflowDescription.Job]
    ) throws(WorkflowError) {
        var counts = Array(repeating: 0, count: jobs.count)
        for (position, needed) in needs.enumerated() {
            for (index, need) in needed.enumerated() {
                counts[need] += 1
                guard counts[need] > WorkflowLimits.dependants else { continue }
                let message =
                    "at most 1,000 jobs may come after one, and \"\(jobs[need].key)\" has more; "
                    + "put a job between for each thousand"
                throw WorkflowError(.tooLarge, jobs[position].placeOfNeed(index), message)
            }
        }
    }
}

// MARK: - Order

extension WorkflowGraph {
    /// A job whose needs are being put in order.
    private struct Visit {
        let position: Int
        /// The needs as they were written, the first first.
        let needs: [Int]
        var next = 0
    }

    /// Visits each job after its needs. It does not recurse, so that no chain can exhaust the stack.
    private static func order(
        of jobs: [WorkflowDescription.Job],
        _ needs: [[Int]]
    ) throws(WorkflowError) -> [Int] {
        var order: [Int] = []
        order.reserveCapacity(jobs.count)
        var isBegun = Array(repeating: false, count: jobs.count)
        var isOrdered = isBegun
        for first in jobs.indices where !isBegun[first] {
            var visits = [Visit(position: first, needs: needs[first].sorted())]
            isBegun[first] = true
            while var visit = visits.popLast() {
                guard visit.next < visit.needs.count else {
                    order.append(visit.position)
                    isOrdered[visit.position] = true
                    continue
                }
                let need = visit.needs[visit.next]
                visit.next += 1
                visits.append(visit)
                if isOrdered[need] { continue }
                guard !isBegun[need] else { throw cycle(to: need, visits.map(\.position), jobs) }
                isBegun[need] = true
                visits.append(Visit(position: need, needs: needs[need].sorted()))
            }
        }
        return order
    }

    private static func cycle(
        to need: Int,
        _ visited: [Int],
        _ jobs: [WorkflowDescription.Job]
    ) -> WorkflowError {
        let last = visited.last ?? need
        let keys = visited.drop { $0 != need }.map { jobs[$0].key } + [jobs[need].key]
        let shown = keys.count <= 10 ? keys : keys.prefix(8) + ["…"] + keys.suffix(1)
        let index = jobs[last].after.firstIndex(of: jobs[need].key) ?? 0
        return WorkflowError(
            .invalidValue,
            jobs[last].placeOfNeed(index),
            "is part of a cycle, none of whose jobs could run: \(shown.joined(separator: " after ")); remove one of these"
        )
    }
}

extension WorkflowDescription.Job {
    /// The path of an item of `after`.
    func placeOfNeed(_ index: Int) -> [String] {
        [WorkflowKey.jobs.rawValue, key, WorkflowKey.after, "[\(index)]"]
    }
}

extension WorkflowError {
    static func badKey(_ key: String, at offset: Int? = nil) -> WorkflowError {
        let place = [WorkflowKey.jobs.rawValue, String(key.prefix(64))]
        return WorkflowError(.invalidValue, place, at: offset, "the key must be \(WorkflowKey.jobRule); rename the job")
    }
}
