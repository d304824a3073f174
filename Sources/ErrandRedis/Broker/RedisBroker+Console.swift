public import Errand

extension RedisBroker {
    /// Returns the records of jobs, `nil` for unknown ones. A script reads at most 50, or fewer if they exceed 1 MiB.
    public func inspect(_ ids: [String], on queue: String) async throws(BrokerError) -> [JobRecord?] {
        var records: [JobRecord?] = []
        while records.count < ids.count { records += try await inspectSome(of: ids[records.count...], on: queue) }
        return records
    }

    /// Reads the first of these jobs, as many as one script may read, and at least one.
    private func inspectSome(of ids: ArraySlice<String>, on queue: String) async throws(BrokerError) -> [JobRecord?] {
        try await shrinking(from: min(50, ids.count)) { count throws(BrokerError) in
            try await inspect(all: ids.prefix(count), on: queue)
        }
    }

    private func inspect(
        all portion: ArraySlice<String>,
        on queue: String
    ) async throws(BrokerError) -> [JobRecord?] {
        var call = ScriptCall(.inspect, on: queue)
        call.add("ids")
        for id in portion { call.add(id) }
        let answer = try await run(call).elements ?? []
        guard let looked = answer.first?.number.map({ $0 < 0 ? portion.count : Int(clamping: $0) }),
            (1...portion.count).contains(looked), answer.count == looked + 1
        else { throw unexpected("\(answer.count) records") }
        return answer.dropFirst().map { JobRecord($0, in: queue) }
    }

    /// Reads one page of a state: at most 500 jobs, or as many as have 1 MiB together.
    public func jobs(
        in state: JobState,
        on queue: String,
        from cursor: Int,
        count: Int
    ) async throws(BrokerError) -> JobPage {
        try await shrinking(from: min(max(count, 1), 500)) { count throws(BrokerError) in
            try await page(of: state, on: queue, from: cursor, count: count)
        }
    }

    private func page(
        of state: JobState,
        on queue: String,
        from cursor: Int,
        count: Int
    ) async throws(BrokerError) -> JobPage {
        var call = ScriptCall(.inspect, on: queue)
        call.add("page")
        call.add(state.rawValue)
        call.add(cursor)
        call.add(count)
        guard let page = JobPage(try await run(call), in: queue) else { throw unexpected("a page of jobs") }
        return page
    }

    /// Cancels jobs, 50 a script. A wake-up stops a running job at once; if it is lost, the session's next heartbeat
    /// does.
    public func cancel(_ ids: [String], on queue: String) async throws(BrokerError) -> [EndingOutcome] {
        try await end(ids, on: queue, .cancel)
    }

    /// Deletes jobs, 50 a script.
    public func delete(_ ids: [String], on queue: String) async throws(BrokerError) -> [EndingOutcome] {
        try await end(ids, on: queue, .delete)
    }

    private func end(_ ids: [String], on queue: String, _ how: Ending) async throws(BrokerError) -> [EndingOutcome] {
        try await goingOn(with: queue) { leavesWork throws(BrokerError) in
            try await endOnly(ids, on: queue, how, &leavesWork)
        }
    }

    /// How a console ends jobs.
    package enum Ending: String, Sendable { case cancel, delete }

    /// Ends jobs, and notes whether that leaves something to do for workflows.
    package func endOnly(
        _ ids: [String],
        on queue: String,
        _ how: Ending,
        _ leavesWork: inout Bool
    ) async throws(BrokerError) -> [EndingOutcome] {
        var verdicts: [EndingOutcome] = []
        while verdicts.count < ids.count {
            do throws(BrokerError) {
                verdicts += try await endSome(of: ids[verdicts.count...].prefix(50), on: queue, how, &leavesWork)
            } catch { throw Self.error(error, afterSome: verdicts) }
        }
        return verdicts
    }

    /// Ends the first of these jobs: if they are large, one script handles fewer.
    private func endSome(
        of ids: ArraySlice<String>,
        on queue: String,
        _ how: Ending,
        _ leavesWork: inout Bool
    ) async throws(BrokerError) -> [EndingOutcome] {
        var call = ScriptCall(.cancel, on: queue)
        call.add(how.rawValue)
        for id in ids { call.add(id) }
        let answer = try await verdicts(of: call, &leavesWork)
        guard !answer.isEmpty, answer.count <= ids.count else { throw unexpected("\(answer.count) verdicts") }
        return try answer.map { word throws(BrokerError) in
            guard let verdict = word.text.flatMap({ EndingOutcome(rawValue: $0) }) else {
                throw unexpected("a verdict")
            }
            return verdict
        }
    }

    /// Makes dead jobs ready again, 50 a script, or as many as have 1 MiB together. Reads their names from their bodies
    /// first.
    public func retry(_ ids: [String], on queue: String) async throws(BrokerError) -> [RetryOutcome] {
        try await goingOn(with: queue) { leavesWork throws(BrokerError) in
            try await retryOnly(ids, on: queue, &leavesWork)
        }
    }

    /// Makes dead jobs ready again, and notes whether that leaves something to do for workflows.
    package func retryOnly(
        _ ids: [String],
        on queue: String,
        _ leavesWork: inout Bool
    ) async throws(BrokerError) -> [RetryOutcome] {
        var verdicts: [RetryOutcome] = []
        while verdicts.count < ids.count {
            do throws(BrokerError) {
                verdicts += try await reviveSome(of: ids[verdicts.count...], on: queue, &leavesWork)
            } catch { throw Self.error(error, afterSome: verdicts) }
        }
        return verdicts
    }

    /// Runs a script that returns a verdict for each job, and `more` behind them if it leaves something to do for
    /// workflows.
    private func verdicts(of call: ScriptCall, _ leavesWork: inout Bool) async throws(BrokerError) -> [RESPValue] {
        var verdicts = try await run(call).elements ?? []
        if verdicts.last?.text == "more" {
            leavesWork = true
            verdicts.removeLast()
        }
        return verdicts
    }

    /// Changes jobs, and goes on with workflows for which that leaves something to do: in a queue without workers nobody
    /// else would. A failure of that does not undo the change: whoever promotes next does the rest.
    private func goingOn<Value>(
        with queue: String,
        _ change: (inout Bool) async throws(BrokerError) -> Value
    ) async throws(BrokerError) -> Value {
        var leavesWork = false
        let result: Result<Value, BrokerError>
        do throws(BrokerError) { result = .success(try await change(&leavesWork)) } catch { result = .failure(error) }
        if leavesWork { await continueWorkflows(of: queue) }
        return try result.get()
    }

    /// The error for all jobs of a request: once some of them were changed, it must not claim that nothing was done.
    private static func error(_ error: BrokerError, afterSome verdicts: [some Any]) -> BrokerError {
        if verdicts.isEmpty { return error }
        let message =
            "the call was carried out for the first \(verdicts.count) of the jobs and then failed; repeat it for the others: "
            + error.message
        return BrokerError(.outcomeUnknown, message)
    }

    /// Retries the first of these jobs, as many as one script may move: it rewrites their bodies.
    private func reviveSome(
        of ids: ArraySlice<String>,
        on queue: String,
        _ leavesWork: inout Bool
    ) async throws(BrokerError) -> [RetryOutcome] {
        let records = try await inspectSome(of: ids, on: queue)
        var call = ScriptCall(.retry, on: queue)
        for (id, record) in zip(ids, records) {
            call.add(id)
            call.add(record.flatMap { Self.nameHeld(by: $0) } ?? "")
        }
        let answer = try await verdicts(of: call, &leavesWork)
        guard answer.count == records.count else { throw unexpected("\(answer.count) verdicts") }
        return try answer.map { word throws(BrokerError) in
            guard let verdict = RetryOutcome(word) else { throw unexpected("a verdict") }
            return verdict
        }
    }

    /// The name that a job holds when it is not dead; scripts do not parse bodies, so the client does.
    private static func nameHeld(by record: JobRecord) -> String? {
        guard let job = try? JobEnvelope.read(stored: record.body), job.description.uniquenessPolicy.takesName else {
            return nil
        }
        return job.description.name
    }

    /// Cancels up to 500 waiting jobs, and returns how many.
    public func clear(_ queue: String) async throws(BrokerError) -> Int {
        try await goingOn(with: queue) { leavesWork throws(BrokerError) in try await clearOnly(queue, &leavesWork) }
    }

    /// Cancels up to 500 waiting jobs, and notes whether that leaves something to do for workflows.
    package func clearOnly(_ queue: String, _ leavesWork: inout Bool) async throws(BrokerError) -> Int {
        while true {
            var call = ScriptCall(.clear, on: queue)
            call.add(500)
            let answer = try await run(call).elements ?? []
            guard answer.count == 3, let count = answer[0].number else { throw unexpected("a count") }
            if answer[2].number == 1 { leavesWork = true }
            // A portion may have contained only tombstones.
            if count > 0 || answer[1].number != 1 { return Int(clamping: count) }
        }
    }

    /// Writes the settings that are not `nil`, if the queue exists.
    public func configure(_ queue: String, _ change: QueueSettings) async throws(BrokerError) {
        let values: [(String, Int?)] = [
            ("paused", change.isPaused.map { $0 ? 1 : 0 }), ("maximum", change.maximumLength),
            ("remember_ms", change.rememberIDsMilliseconds), ("keep_ms", change.keepHistoryMilliseconds),
            ("starts", change.publishesStarts.map { $0 ? 1 : 0 }),
            ("stream", change.keptEvents.map { min($0, 1_000_000) }),
        ]
        var call = ScriptCall(.settings, on: queue)
        for case (let name, let value?) in values {
            call.add(name)
            call.add(max(0, value))
        }
        _ = try await run(call)
    }
}
