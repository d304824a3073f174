public import Errand

extension RedisBroker {
    /// Begins to push a workflow.
    public func begin(_ workflow: WorkflowHeader) async throws(BrokerError) -> WorkflowBeginning {
        let queue = workflow.id.queue
        var call = ScriptCall(.workflow, "begin", workflow.id)
        call.add(workflow.name)
        var name: [UInt8] = []
        JSONEscaping.append(workflow.name, to: &name)
        call.add(name)
        call.add(workflow.policy == .drop ? "d" : workflow.policy == .replace ? "r" : "i")
        call.add(workflow.onDead.rawValue)
        call.add(WorkflowLimits.sealing.wholeMilliseconds)
        for job in [workflow.onSuccess, workflow.onFailure] {
            call.add(job.map { Array("\($0.id)\($0.elsewhere(from: queue)) ".utf8) + $0.bytes } ?? [])
        }
        guard let reply = try await run(call).elements, reply.count == 3 else {
            throw unexpected("a workflow's header")
        }
        if reply[0].number == 1 { await announce(queue) }
        let other = "\(queue):\(reply[2].text ?? "")"
        switch reply[1].text {
        case "begun": return .begun
        case "sealed": return .sealed
        case "dropped": return .dropped(for: other)
        case "replaces": return .replaces(other)
        default: throw unexpected("a workflow's header")
        }
    }

    /// Adds jobs to a workflow that is not sealed, or to one of which a job runs.
    @discardableResult
    public func add(
        _ members: [WorkflowMember],
        to workflow: WorkflowID,
        by claim: WorkflowClaim?
    ) async throws(BrokerError) -> [Int] {
        let numbers = try await addOnly(members, to: workflow, by: claim)
        if claim != nil { try await deliver(from: workflow.queue) }
        return numbers
    }

    /// Adds jobs to a workflow. Messages are not delivered yet.
    package func addOnly(
        _ members: [WorkflowMember],
        to workflow: WorkflowID,
        by claim: WorkflowClaim?
    ) async throws(BrokerError) -> [Int] {
        var call = ScriptCall(.workflow, "add", workflow)
        call.add(claim?.id ?? "")
        // Only the job's own queue knows its claim.
        if let claim, claim.queue == workflow.queue { call.add(claim.token) } else { call.add("") }
        call.add(claim?.session ?? "")
        for member in members { call.add(member, to: workflow.queue) }
        guard let numbers = try await run(call).elements?.compactMap(\.number), numbers.count == members.count else {
            throw unexpected("the jobs of a workflow")
        }
        return numbers.map { Int(clamping: $0) }
    }

    /// Seals a workflow: its jobs run from now on.
    @discardableResult
    public func seal(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowSealing {
        let sealing = try await sealOnly(workflow)
        switch sealing {
        case .sealed: try await deliver(from: workflow.queue)
        case .replaced(let other): if let id = WorkflowID(other) { try await cancelJobs(of: id) }
        case .dropped: break
        }
        return sealing
    }

    /// Seals a workflow. The jobs of one that it replaces are not cancelled yet, and messages not delivered.
    package func sealOnly(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowSealing {
        let reply = try await run(ScriptCall(.workflow, "seal", workflow)).elements ?? []
        let other = "\(workflow.queue):\(reply.last?.text ?? "")"
        switch reply.first?.text {
        case "sealed": return .sealed
        case "replaced": return .replaced(other)
        case "dropped":
            try await forget(workflow)
            return .dropped(for: other)
        default: throw unexpected("the seal of a workflow")
        }
    }

    /// Cancels whatever has not ended.
    public func cancel(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowChange {
        guard let record = try await self.workflow(workflow) else { return .notFound }
        guard record.endedAt == nil else { return .nothingToDo }
        // Cancelled before, but perhaps not all of its jobs.
        guard try await stop(workflow) || record.state == .cancelled else { return .nothingToDo }
        try await cancelJobs(of: workflow)
        return .changed(jobs: record.open)
    }

    /// Lets nothing of a workflow start any more.
    ///
    /// - Returns: whether it had not ended.
    package func stop(_ workflow: WorkflowID) async throws(BrokerError) -> Bool {
        try await run(ScriptCall(.workflow, "cancel", workflow)).number == 1
    }

    /// Cancels the jobs of a workflow that was stopped; running ones are asked to stop.
    private func cancelJobs(of workflow: WorkflowID) async throws(BrokerError) {
        var goesOn = true
        while goesOn {
            try await deliver(from: workflow.queue)
            let queues: [String]
            (queues, goesOn) = try await cancelOpenJobs(of: workflow)
            for queue in queues { try await deliver(from: queue) }
        }
    }

    /// Cancels the jobs of a workflow that was stopped, and asks running ones to stop. Messages are not delivered.
    ///
    /// - Returns: the queues of the jobs, and whether one of them was cancelled, so that there may be others.
    func cancelOpenJobs(of workflow: WorkflowID) async throws(BrokerError) -> (queues: [String], goesOn: Bool) {
        let open = try await jobs("open", of: workflow)
        var goesOn = false
        for (queue, ids) in open {
            var leavesWork = false
            let outcomes = try await endOnly(ids, on: queue, .cancel, &leavesWork)
            if outcomes.contains(.cancelled) { goesOn = true }
        }
        return (open.keys.sorted(), goesOn)
    }

    /// Retries the dead jobs that hold up a workflow.
    public func retry(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowChange {
        guard try await self.workflow(workflow) != nil else { return .notFound }
        var retried = 0
        // A job that dies again meanwhile, or whose name another job holds, is not tried again.
        var tried: Set<String> = []
        while true {
            let dead = try await jobs("dead", of: workflow).mapValues { ids in ids.filter { !tried.contains($0) } }
                .filter { !$0.value.isEmpty }
            if dead.isEmpty { return retried == 0 ? .nothingToDo : .changed(jobs: retried) }
            for (queue, ids) in dead {
                tried.formUnion(ids)
                retried += try await retry(ids, on: queue).count { $0 == .retried }
            }
        }
    }

    /// Deletes a workflow with its jobs, unless some of them run.
    public func delete(_ workflow: WorkflowID) async throws(BrokerError) -> WorkflowChange {
        guard let record = try await self.workflow(workflow) else { return .notFound }
        var running = 0
        for (queue, ids) in try await jobs("open", of: workflow) {
            running += try await inspect(ids, on: queue).count { $0?.state == .running }
        }
        guard running == 0 else { return .running(jobs: running) }
        let dead = try await deadMembers(of: record)
        if record.endedAt == nil { _ = try await cancel(workflow) }
        var deleted = record.open - record.dead
        for (queue, members) in dead {
            deleted += try await delete(members.map(\.id), on: queue).count { $0 == .deleted }
        }
        try await forget(workflow)
        return .changed(jobs: deleted)
    }

    /// The dead jobs of a workflow by their queues, including those that do not hold it up.
    private func deadMembers(of workflow: WorkflowRecord) async throws(BrokerError) -> [String: [WorkflowMemberRecord]]
    {
        var dead: [WorkflowMemberRecord] = []
        for first in stride(from: 0, to: workflow.count, by: 1000) {
            dead += try await members(of: workflow.id, from: first, count: 1000).filter { $0.state == .dead }
        }
        return Dictionary(grouping: dead, by: \.queue)
    }

    private func forget(_ workflow: WorkflowID) async throws(BrokerError) {
        while try await run(ScriptCall(.workflow, "forget", workflow)).elements?.last?.number == 1 {}
    }
}

/// Reading workflows.
extension RedisBroker {
    /// Returns a page of a queue's workflows, the newest first.
    public func workflows(on queue: String, from cursor: Int, count: Int) async throws(BrokerError) -> WorkflowPage {
        var call = ScriptCall(.workflows, on: queue)
        call.add("list")
        call.add(max(cursor, 0))
        call.add(max(count, 0))
        guard let reply = try await run(call).elements, let next = reply.first?.number else {
            throw unexpected("a list of workflows")
        }
        return WorkflowPage(
            workflows: reply.dropFirst().compactMap { $0.elements.flatMap { WorkflowRecord($0, on: queue) } },
            next: next < 0 ? nil : Int(clamping: next)
        )
    }

    /// Returns a workflow; `nil` if the broker does not have it.
    public func workflow(_ id: WorkflowID) async throws(BrokerError) -> WorkflowRecord? {
        guard let values = try await run(ScriptCall(.workflows, "one", id)).elements else {
            throw unexpected("a workflow")
        }
        return WorkflowRecord(values, on: id.queue)
    }

    /// Returns jobs of a workflow in the order of their numbers.
    public func members(
        of workflow: WorkflowID,
        from number: Int,
        count: Int
    ) async throws(BrokerError) -> [WorkflowMemberRecord] {
        var call = ScriptCall(.workflows, "members", workflow)
        call.add(max(number, 0))
        call.add(max(count, 0))
        guard let replies = try await run(call).elements?.compactMap({ $0.elements.flatMap(MemberReply.init) }) else {
            throw unexpected("the jobs of a workflow")
        }
        let keys = try await keys(replies, from: number, of: workflow)
        let asked = replies.filter { ["waiting", "elsewhere"].contains($0.state) }
        var states: [String: JobState] = [:]
        for (queue, jobs) in Dictionary(grouping: asked, by: { $0.queue ?? workflow.queue }) {
            let ids = jobs.map(\.id)
            for (id, record) in zip(ids, try await inspect(ids, on: queue)) { states[id] = record?.state }
        }
        return replies.map { $0.record(keys, states[$0.id], on: workflow.queue) }
    }

    /// The keys of the members, and of those that they come after, by their numbers.
    private func keys(
        _ replies: [MemberReply],
        from first: Int,
        of workflow: WorkflowID
    ) async throws(BrokerError) -> [Int: String] {
        var keys: [Int: String] = [:]
        for (index, reply) in replies.enumerated() { keys[first + index] = reply.key }
        let missing = Set(replies.flatMap(\.needs).map(\.number)).subtracting(keys.keys)
        for start in Set(missing.map { $0 / WorkflowLimits.page * WorkflowLimits.page }).sorted() {
            var call = ScriptCall(.workflows, "members", workflow)
            call.add(start)
            call.add(WorkflowLimits.page)
            let others = try await run(call).elements?.compactMap { $0.elements.flatMap(MemberReply.init) } ?? []
            for (index, reply) in others.enumerated() { keys[start + index] = reply.key }
        }
        return keys
    }

    /// Returns the results of finished jobs of a workflow.
    public func results(
        for job: String,
        of keys: [String]?,
        in workflow: WorkflowID
    ) async throws(BrokerError) -> [String: [UInt8]] {
        if keys?.isEmpty == true { return [:] }
        var results: [String: [UInt8]] = [:]
        var next = 0
        while next >= 0 {
            var call = ScriptCall(.workflows, "results", workflow)
            call.add(job)
            call.add(next)
            for key in keys ?? ["*"] { call.add(key) }
            guard let reply = try await run(call).elements, !reply.count.isMultiple(of: 2), let number = reply[0].number
            else { throw unexpected("results of a workflow") }
            for index in stride(from: 1, to: reply.count, by: 2) {
                if let key = reply[index].text { results[key] = reply[index + 1].bytes ?? [] }
            }
            next = Int(clamping: number)
        }
        return results
    }

    /// The ids of jobs of a workflow by their queues.
    private func jobs(_ which: String, of workflow: WorkflowID) async throws(BrokerError) -> [String: [String]] {
        var (texts, cursor) = (Set<String>(), "0")
        repeat {
            var call = ScriptCall(.workflows, which, workflow)
            call.add(cursor)
            let page = try await run(call).elements?.compactMap(\.text) ?? []
            guard let next = page.first else { throw unexpected("the jobs of a workflow") }
            texts.formUnion(page.dropFirst())
            cursor = next
        } while cursor != "0"
        var jobs: [String: [String]] = [:]
        for text in texts {
            guard let space = text.lastIndex(of: " ") else { throw unexpected("the jobs of a workflow") }
            jobs[String(text[text.index(after: space)...]), default: []].append(String(text[..<space]))
        }
        return jobs
    }
}

extension ScriptCall {
    init(_ script: Script, _ action: String, _ workflow: WorkflowID) {
        self.init(script, on: workflow.queue)
        add(action)
        add(workflow.token)
    }

    fileprivate mutating func add(_ member: WorkflowMember, to home: String) {
        let job = member.job
        let policy = Self.policy(of: job) + job.elsewhere(from: home)
        add(job.id)
        add(member.key)
        add("\(max(0, job.notBefore)) \(policy) \(job.policy.needsName ? job.name ?? "" : "")")
        add(member.number)
        add(member.needs.map { "\($0.condition.letter)\($0.isAdded ? "+" : "")\($0.number)" }.joined(separator: " "))
        add(member.job.bytes)
    }
}

extension JobEnvelope {
    /// The queue of the job behind an @, if it is another one than the workflow's home queue.
    fileprivate func elsewhere(from home: String) -> String { queue == home ? "" : "@\(queue)" }
}

extension WorkflowCondition {
    fileprivate var letter: Character {
        switch self {
        case .success: "s"
        case .anyEnd: "a"
        case .failure: "f"
        }
    }

    fileprivate init?(letter: Character) {
        guard let condition = Self.allCases.first(where: { $0.letter == letter }) else { return nil }
        self = condition
    }
}

extension WorkflowRecord {
    fileprivate init?(_ values: [RESPValue], on queue: String) {
        guard values.count == 10, let token = values[0].text, let id = WorkflowID("\(queue):\(token)"),
            let state = values[2].text.flatMap(WorkflowState.init)
        else { return nil }
        let numbers = values.map { Int(clamping: $0.number ?? 0) }
        self.init(
            id: id,
            name: values[1].text ?? "",
            state: state,
            round: numbers[3],
            count: numbers[4],
            open: numbers[5],
            dead: numbers[6],
            onDead: values[7].text.flatMap(DeadMemberPolicy.init) ?? .hold,
            pushedAt: Int64(numbers[8]),
            endedAt: numbers[9] > 0 ? Int64(numbers[9]) : nil
        )
    }
}

/// A member as the script returns it.
private struct MemberReply {
    let key: String
    /// The queue of the job, if it is another one than the workflow's home queue.
    let queue: String?
    let needs: [WorkflowNeed]
    let id: String
    let ending: String
    let state: String

    init?(_ values: [RESPValue]) {
        guard values.count == 4, let record = values[0].text, let id = values[1].text else { return nil }
        let words = record.split(separator: " ")
        guard let parts = words.first?.split(separator: "@", maxSplits: 1), let key = parts.first else { return nil }
        self.key = String(key)
        queue = parts.count > 1 ? String(parts[1]) : nil
        self.id = id
        needs = words.dropFirst().compactMap { word in
            guard let letter = word.first, let condition = WorkflowCondition(letter: letter),
                let number = Int(word.dropFirst())
            else { return nil }
            return WorkflowNeed(number: number, condition: condition)
        }
        ending = values[2].text ?? ""
        state = values[3].text ?? ""
    }

    func record(_ keys: [Int: String], _ inspected: JobState?, on home: String) -> WorkflowMemberRecord {
        WorkflowMemberRecord(
            key: key,
            id: id,
            queue: queue ?? home,
            // One on its way to another queue still waits.
            state: endState ?? inspected ?? JobState(rawValue: state) ?? .blocked,
            needs: needs.map { .init(key: keys[$0.number] ?? "", condition: $0.condition) },
            endedAt: Int64(ending.dropFirst())
        )
    }

    private var endState: JobState? {
        switch ending.first {
        case "f": .finished
        case "c": .cancelled
        case "e": .expired
        case "x": .deleted
        case "k": .skipped
        case "i", "d": .dead
        default: nil
        }
    }
}
