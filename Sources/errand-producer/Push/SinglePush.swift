import Errand
import ErrandCommandLine
import ErrandOperator

/// Pushes one job, prints its receipt, and waits for its end if requested.
struct SinglePush {
    let producer: Producer
    let wait: WaitLimit?
    let json: Bool

    func run(_ description: OperationDescription) async throws {
        let receipt = try await producer.push(description)
        guard let wait, receipt.outcome != .unknown else {
            StandardOutput.write(json ? receipt.json.bytes : Array(receipt.line.onOneLine().utf8))
            return try refuseUnknown(receipt)
        }
        if !json { StandardError.write(receipt.line) }
        let ending = try await producer.ending(of: receipt, within: wait.duration)
        try tell(ending, of: receipt)
    }

    private func refuseUnknown(_ receipt: Receipt) throws(CommandFailure) {
        guard receipt.outcome == .unknown else { return }
        throw CommandFailure(
            "the broker did not confirm the job: it may or may not have been accepted. "
                + "Push it again within a minute, with --id \(receipt.id): that adds no second job",
            ExitStatus.unknown
        )
    }

    private func tell(_ ending: JobEnding, of receipt: Receipt) throws(CommandFailure) {
        if json {
            let json = receipt.json.with([
                "state": .text(orNull: ending.state?.rawValue),
                "result": ending.result.map { .text(String(decoding: $0, as: UTF8.self)) } ?? .null,
                "error": .text(orNull: ending.error),
            ])
            StandardOutput.write(json.bytes)
        } else if let result = ending.result {
            StandardOutput.write(raw: result)
        }
        if let failure = ending.failure(of: receipt.id) { throw failure }
    }
}

extension Receipt {
    /// The receipt for people.
    fileprivate var line: String {
        if outcome == .dropped, let until {
            return "dropped: \(id) was first, and its window in queue \(queue) ends at \(Timestamp.text(until))"
        }
        let holder = holder.map { outcome == .dropped ? " (it holds the name)" : ", instead of or after \($0)" } ?? ""
        return "\(outcome.rawValue) \(id) in queue \(queue)\(holder)"
    }
}

extension JobEnding {
    /// Returns the failure of the command, or `nil` if the job has finished.
    fileprivate func failure(of id: String) -> CommandFailure? {
        if isOutOfTime {
            let standing = state.map { "it is \($0.rawValue)" } ?? "its state cannot be read"
            return CommandFailure("job \(id) had not ended when the time was over; \(standing)", ExitStatus.unknown)
        }
        switch state {
        case .finished: return nil
        case nil: return CommandFailure("the broker knows nothing (any more) of job \(id)", ExitStatus.unknown)
        case let state?:
            let reason = error.map { ": \($0)" } ?? ""
            return CommandFailure("job \(id) is \(state.rawValue)\(reason)", ExitStatus.unsuccessful)
        }
    }
}
