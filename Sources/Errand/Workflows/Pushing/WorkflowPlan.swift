import ErrandText

/// What a push of a workflow sends.
package struct WorkflowPlan: Sendable {
    /// The workflow without its jobs.
    package let header: WorkflowHeader
    /// The jobs, in the order of their numbers.
    package let members: [WorkflowMember]

    /// The ids of the jobs by their keys.
    var ids: [String: String] { Dictionary(members.map { ($0.key, $0.job.id) }) { first, _ in first } }
}

extension WorkflowDescription {
    /// Completes the workflow and makes what its push sends.
    ///
    /// The same token makes the same ids, so that a push can be repeated.
    ///
    /// - Parameter token: What distinguishes the workflow from others of its queue; see ``WorkflowID/makeToken()``.
    /// - Throws: ``WorkflowError`` if a job cannot be completed.
    package func makePlan(token: String) throws(WorkflowError) -> WorkflowPlan {
        let id = WorkflowID(queue: queue, token: token)
        let success = try callback(onSuccess, .onSuccess, of: id)
        let failure = try callback(onFailure, .onFailure, of: id)
        let header = WorkflowHeader(
            id: id,
            name: name,
            policy: uniquenessPolicy,
            onDead: onDead,
            onSuccess: success,
            onFailure: failure
        )
        return WorkflowPlan(header: header, members: try members(of: id))
    }

    private func members(of id: WorkflowID) throws(WorkflowError) -> [WorkflowMember] {
        let numbers = graph.numbers
        var members: [WorkflowMember] = []
        members.reserveCapacity(jobs.count)
        for (number, position) in graph.order.enumerated() {
            let job = jobs[position]
            let needs = graph.needs[position].map { WorkflowNeed(number: numbers[$0], condition: job.when) }
            let envelope = try job.envelope(id: id.job(number), of: id)
            members.append(WorkflowMember(job: envelope, number: number, key: job.key, needs: needs))
        }
        return members
    }

    /// A callback's description names its workflow, with the kind of callback as its key.
    private func callback(
        _ description: OperationDescription?,
        _ key: WorkflowKey,
        of id: WorkflowID
    ) throws(WorkflowError) -> JobEnvelope? {
        guard let description else { return nil }
        let suffix = key == .onSuccess ? "success" : "failure"
        do throws(DescriptionError) {
            return try description.filling(queue: id.queue).makeEnvelope(
                id: "\(id.token)-\(suffix)",
                in: WorkflowMembership(id: id, key: key.rawValue)
            )
        } catch { throw WorkflowError(error, in: [key.rawValue]) }
    }
}

extension WorkflowDescription.Job {
    /// Makes the envelope of the job, which is in the home queue unless it has one of its own.
    func envelope(id: String, of workflow: WorkflowID) throws(WorkflowError) -> JobEnvelope {
        do throws(DescriptionError) {
            return try description.filling(queue: workflow.queue).makeEnvelope(
                id: id,
                in: WorkflowMembership(id: workflow, key: key)
            )
        } catch { throw WorkflowError(error, in: [WorkflowKey.jobs.rawValue, key]) }
    }
}

extension WorkflowGraph {
    /// The number of each job in ``order``, by its position.
    var numbers: [Int] {
        var numbers = Array(repeating: 0, count: order.count)
        for (number, position) in order.enumerated() { numbers[position] = number }
        return numbers
    }
}

extension WorkflowID {
    private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    /// Returns a new token: 16 letters and digits, made from an id of the project's generator.
    package static func makeToken() -> String { token(from: JobIDGenerator.next()) }

    /// Returns the token of a text. The digits of an id that differ between programs are its last, so all are mixed.
    static func token(from id: String) -> String {
        let digits = Array(SHA256.hex(Array(id.utf8)).utf8)
        let values = stride(from: 0, to: 48, by: 3).map { start in
            digits[start..<start + 3].reduce(0) { $0 << 4 | Int(Self.value(ofDigit: $1)) }
        }
        return String(decoding: values.map { alphabet[$0 % alphabet.count] }, as: UTF8.self)
    }

    private static func value(ofDigit digit: UInt8) -> UInt8 {
        digit >= UInt8(ascii: "a") ? digit - UInt8(ascii: "a") + 10 : digit - UInt8(ascii: "0")
    }
}
