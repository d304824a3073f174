import ErrandText

/// The jobs of one addition, in an order in which none precedes one that it comes after.
struct AddedJobs {
    private let jobs: [WorkflowDescription.Job]
    private let graph: WorkflowGraph
    private let envelopes: [JobEnvelope]
    /// The numbers of jobs that the workflow has, by their keys.
    private let given: [String: Int]

    /// Looks up the jobs that the workflow has already and others come after.
    init(
        _ jobs: [WorkflowDescription.Job],
        by adder: String,
        step: Int,
        to workflow: WorkflowID,
        on broker: any WorkflowBroker
    ) async throws {
        self.jobs = jobs
        let own = Set(jobs.map(\.key))
        given = try await broker.numbers(of: Set(jobs.flatMap(\.after)).subtracting(own), in: workflow)
        graph = try WorkflowGraph(jobs, given: Set(given.keys))
        for job in jobs where job.after.count >= WorkflowLimits.portion {
            let message = "at most 999 jobs may precede one that a running job adds; let it come after fewer"
            throw WorkflowError(.tooLarge, job.placeOfNeed(WorkflowLimits.portion - 1), message)
        }
        envelopes = try graph.order.enumerated().map { index, position in
            try jobs[position].envelope(id: workflow.addedJob(index, step: step, by: adder), of: workflow)
        }
    }

    var ids: [String: String] {
        let keys = graph.order.map { jobs[$0].key }
        return Dictionary(zip(keys, envelopes.map(\.id))) { first, _ in first }
    }

    /// Returns the members of the next call; `nil` after the last.
    ///
    /// - Parameters:
    ///   - first: How many of the jobs earlier calls have added.
    ///   - added: The numbers of those.
    func portion(from first: Int, _ added: [Int]) -> [WorkflowMember]? {
        guard first < jobs.count else { return nil }
        let numbers = graph.numbers
        var portion: [WorkflowMember] = []
        var (room, bytes) = (WorkflowLimits.sent, 0)
        for (index, position) in graph.order.enumerated().dropFirst(first) {
            let job = jobs[position]
            guard portion.isEmpty || job.after.count < room, bytes < WorkflowPortions.fullBytes else { break }
            let local = graph.needs[position].map { need in
                let number = numbers[need]
                return number < first
                    ? WorkflowNeed(number: added[number], condition: job.when)
                    : WorkflowNeed(number: number - first, isAdded: true, condition: job.when)
            }
            let old = job.after.compactMap { given[$0] }.map { WorkflowNeed(number: $0, condition: job.when) }
            portion.append(
                WorkflowMember(job: envelopes[index], number: index - first, key: job.key, needs: local + old)
            )
            room -= job.after.count + 1
            bytes += envelopes[index].bytes.count
        }
        return portion
    }
}

extension WorkflowID {
    /// The id of the nth job of the mth addition by a job: the same in every attempt, and short however often added jobs
    /// add others.
    func addedJob(_ index: Int, step: Int, by adder: String) -> String {
        "\(token)-x" + SHA256.hex(Array("\(adder) \(step) \(index)".utf8)).prefix(24)
    }
}

extension WorkflowBroker {
    /// Returns the numbers of jobs of a workflow; those that it does not have are left out.
    fileprivate func numbers(
        of keys: Set<String>,
        in workflow: WorkflowID
    ) async throws(BrokerError) -> [String: Int] {
        var numbers: [String: Int] = [:]
        var first = 0
        while numbers.count < keys.count {
            let page = try await members(of: workflow, from: first, count: WorkflowLimits.page)
            for (offset, member) in page.enumerated() where keys.contains(member.key) {
                numbers[member.key] = first + offset
            }
            guard page.count == WorkflowLimits.page else { break }
            first += page.count
        }
        return numbers
    }
}
