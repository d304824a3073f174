public import Errand
import Logging

extension RedisBroker {
    /// Pushes jobs in calls of at most 500 jobs and about 8 MiB. Concurrent small pushes to a queue share calls.
    public func push(_ jobs: [JobEnvelope], to queue: String) async throws(BrokerError) -> [Receipt] {
        guard PushBatcher.admits(jobs) else { return try await pushAlone(jobs, to: queue) }
        switch await batcher.enter(queue, with: jobs, patience: options.patience) {
        case .told(let outcome): return try outcome.get()
        case .lead(let followers): return try await lead(jobs, followers, to: queue)
        }
    }

    private func lead(
        _ jobs: [JobEnvelope],
        _ followers: [PushBatcher.Follower],
        to queue: String
    ) async throws(BrokerError) -> [Receipt] {
        guard !followers.isEmpty else {
            let outcome = await outcome(of: jobs, on: queue)
            batcher.leave(queue, after: outcome)
            return try outcome.get()
        }
        // In a separate task: a cancellation of the leader must not fail the pushes of others.
        let all = jobs + followers.flatMap(\.jobs)
        let outcome = await Task { await self.outcome(of: all, on: queue) }.value
        batcher.leave(queue, after: outcome)
        // The refusal may concern only one push, or there may be room for some of them.
        if case .failure(let error) = outcome, error.taken == nil, error.code == .refused || error.code == .full {
            for follower in followers { follower.tell(await self.outcome(of: follower.jobs, on: queue)) }
            return try await pushAlone(jobs, to: queue)
        }
        var first = jobs.count
        for follower in followers {
            let end = first + follower.jobs.count
            follower.tell(Self.part(first..<end, of: outcome))
            first = end
        }
        return try Self.part(0..<jobs.count, of: outcome).get()
    }

    /// The outcome of some of the jobs of a call.
    private static func part(
        _ range: Range<Int>,
        of outcome: Result<[Receipt], BrokerError>
    ) -> Result<[Receipt], BrokerError> {
        switch outcome {
        case .success(let receipts): return .success(Array(receipts[range]))
        case .failure(let error):
            guard let taken = error.taken.map({ Array($0[range]) }) else { return outcome }
            let receipts = taken.compactMap(\.self)
            return receipts.count == taken.count ? .success(receipts) : .failure(error.about(taken))
        }
    }

    private func outcome(of jobs: [JobEnvelope], on queue: String) async -> Result<[Receipt], BrokerError> {
        do throws(BrokerError) { return .success(try await pushAlone(jobs, to: queue)) } catch {
            return .failure(error)
        }
    }

    private func pushAlone(_ jobs: [JobEnvelope], to queue: String) async throws(BrokerError) -> [Receipt] {
        var receipts: [Receipt?] = []
        receipts.reserveCapacity(jobs.count)
        var fullGroup: String?
        for portion in Self.portions(of: jobs) {
            let pushed = try await pushPortion(portion, to: queue, isFirst: receipts.isEmpty)
            receipts += pushed.receipts
            fullGroup = fullGroup ?? pushed.fullGroup
        }
        if let fullGroup { throw BrokerError(fullGroup: fullGroup, of: queue, taken: receipts) }
        return receipts.compactMap(\.self)
    }

    /// Portions of at most 500 jobs and about 8 MiB.
    private static func portions(of jobs: [JobEnvelope]) -> [ArraySlice<JobEnvelope>] {
        var portions: [ArraySlice<JobEnvelope>] = []
        var start = 0
        var bytes = 0
        for (index, job) in jobs.enumerated() {
            if index > start, index - start == 500 || bytes + job.bytes.count > 8 << 20 {
                portions.append(jobs[start..<index])
                start = index
                bytes = 0
            }
            bytes += job.bytes.count
        }
        if start < jobs.count { portions.append(jobs[start...]) }
        return portions
    }

    private func pushPortion(
        _ jobs: ArraySlice<JobEnvelope>,
        to queue: String,
        isFirst: Bool
    ) async throws(BrokerError) -> PushedPortion {
        var call = ScriptCall(.push, on: queue)
        for job in jobs { call.add(job) }
        do throws(BrokerError) {
            let answer = try await run(call, replicas: options.replicas).elements ?? []
            guard answer.count == jobs.count + 1 else {
                throw unexpected("\(answer.count) receipts for \(jobs.count) jobs")
            }
            if answer[0].number == 1 { await announce(queue) }
            var portion = PushedPortion()
            for (job, verdict) in zip(jobs, answer.dropFirst()) {
                guard portion.add(verdict, job: job.id, queue: queue) else { throw unexpected("a receipt") }
            }
            return portion
        } catch {
            // An invalid reply does not show what was done. And once an earlier portion was accepted, the batch as a
            // whole has not failed.
            guard [.outcomeUnknown, .protocolViolation].contains(error.code) || !isFirst else { throw error }
            // The receipts do not contain the reason.
            logger.warning(
                "the outcome of a push is unknown; jobs that are pushed again with the same ids are not added twice",
                metadata: ["job.queue": "\(queue)", "jobs": "\(jobs.count)", "error": "\(error)"]
            )
            return PushedPortion(receipts: jobs.map { Receipt(id: $0.id, queue: queue, outcome: .unknown) })
        }
    }
}

extension ScriptCall {
    /// The letter of a policy and, if it has a window, its times.
    static func policy(of job: JobEnvelope) -> String {
        let letter = UniquenessLetter(job.policy, until: job.uniqueUntil).text
        guard job.policy.hasWindow else { return letter }
        return "\(letter):\(job.window)" + (job.atMost > 0 ? ":\(job.atMost)" : "")
    }

    /// Adds the five values of a job.
    mutating func add(_ job: JobEnvelope) {
        add(job.id)
        add(max(0, job.notBefore))
        add(Self.policy(of: job))
        add(job.policy.needsName ? job.name ?? "" : "")
        add(job.bytes)
    }
}
