import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandText

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
        if let failure = ending.failure(of: receipt.id, within: wait?.duration) { throw failure }
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
    fileprivate func failure(of id: String, within limit: Duration?) -> CommandFailure? {
        if isOutOfTime {
            let standing =
                state.map { "it is still \($0.rawValue). errand why \(id) says more" } ?? "its state cannot be read"
            let time = limit.map { " within \(DurationText.format($0))" } ?? " in time"
            return CommandFailure("job \(id) has not ended\(time); \(standing)", ExitStatus.unknown)
        }
        switch state {
        case .finished: return nil
        case nil:
            return CommandFailure(
                "job \(id) is not kept any more: it has ended and expired, or was deleted",
                ExitStatus.unknown
            )
        case let state?:
            let reason = error.map { ": \($0)" } ?? ""
            return CommandFailure("job \(id) is \(state.rawValue)\(reason)", ExitStatus.unsuccessful)
        }
    }
}
