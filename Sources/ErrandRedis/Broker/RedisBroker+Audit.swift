public import Errand

extension RedisBroker {
    /// Looks for broken invariants in one script, and for claims that no session holds; queues of more than 20,000 jobs
    /// are not walked job by job.
    public func audit(_ queue: String, repair: Bool) async throws(BrokerError) -> [Finding] {
        // First: what a session holds that is not registered would else look as if it were in no place at all.
        let stranded = try await strandedClaims(of: queue, repair: repair)
        var call = ScriptCall(.audit, on: queue)
        call.add(repair ? 1 : 0)
        call.add(20_000)
        let answer = try await run(call).elements ?? []
        guard !answer.isEmpty else { throw unexpected("an audit") }
        var findings: [Finding] = []
        for start in stride(from: 1, to: answer.count - 2, by: 3) {
            let kind = answer[start].text ?? ""
            findings.append(
                Finding(
                    kind: kind,
                    queue: queue,
                    subject: answer[start + 1].text ?? "",
                    message: Self.explanations[kind] ?? "broken invariant",
                    repaired: answer[start + 2].number == 1
                )
            )
        }
        return findings + stranded
    }

    /// Claims of sessions that are not registered: nobody would ever take them back.
    private func strandedClaims(of queue: String, repair: Bool) async throws(BrokerError) -> [Finding] {
        var findings: [Finding] = []
        var cursor = "0"
        let prefix = KeySpace.key(of: queue) + ":claims:"
        repeat {
            let page =
                try await command(.command("SCAN", cursor, "MATCH", prefix + "*", "COUNT", "1000")).elements ?? []
            guard page.count == 2, let next = page[0].text else { throw unexpected("a SCAN page") }
            for key in (page[1].elements ?? []).compactMap(\.text) {
                let session = String(key.dropFirst(prefix.count))
                let score = try await command(.command("ZSCORE", KeySpace.key(of: queue) + ":sessions", session))
                guard case .null = score else { continue }
                // With its lease set to the past, recovery finds the session like any other dead one.
                if repair {
                    _ = try await command(.command("ZADD", KeySpace.key(of: queue) + ":sessions", "1", session))
                }
                findings.append(
                    Finding(
                        kind: "claims_without_session",
                        queue: queue,
                        subject: session,
                        message: Self.explanations["claims_without_session"] ?? "",
                        repaired: repair
                    )
                )
            }
            cursor = next
        } while cursor != "0"
        return findings
    }

    private static let explanations = [
        "body_without_place": "a job is in no line, set or claim: it would never run. Repair puts it in line",
        "several_places": "a job is in more than one place: it may run more than once",
        "place_without_body":
            "a line, set or claim names a job that does not exist. Repair puts it among the dead, with the reason",
        "lock_without_holder": "a name is held by no living job; the next push heals it",
        "claim_unreadable": "a claim cannot be read. Repair lets recovery take the job back",
        "session_unknown": "a session has a lease but no record. Repair ends its lease",
        "claims_without_session":
            "jobs are claimed by a session that is not registered: nobody would take them back. Repair does",
        "succession_without_job": "a job waits for the end of one that does not exist. Repair puts it in line",
        "running_without_claim": "a job counts as running but nobody holds it: replacements would wait for it for ever",
        "idle_without_session": "a session that is gone is listed as waiting for work: a hint would be lost on it",
        "tombstone_without_entry": "a tombstone has no entry: the next job of this id would be skipped once",
        "stand_without_place": "a place in line is said to be taken over by a job that does not know of it",
        "place_without_stand": "a job is said to have taken over a place in line that does not know of it",
        "parked_without_line": "an operation is said to have waiting jobs, but there is no line of them",
        "named_without_job": "a record of a name has no job",
        "running_without_job": "a record of a running job has no job",
        "stops_without_job": "a request to stop has no job",
        "failures_without_job": "a count of failures has no job",
        "crashes_without_job": "a count of crashes has no job",
        "alone_without_job": "a count of crashes has no job",
        "errors_without_job": "a kept error has no job",
        "place_without_job": "a place in line has no job",
    ]
}
