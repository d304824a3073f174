import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandText

/// Pushes a workflow, prints its receipt, and waits for its end if requested.
struct WorkflowPush {
    let producer: Producer
    let wait: WaitLimit?
    let json: Bool

    func run(_ workflow: WorkflowDescription, id: WorkflowID?) async throws {
        let receipt = try await producer.push(workflow, id: id)
        let written = receipt.json(keys: workflow.jobs.map(\.key))
        guard let wait, receipt.outcome != .unknown else {
            StandardOutput.write(json ? written.bytes : Array(receipt.line.onOneLine().utf8))
            return try refuseUnknown(receipt)
        }
        if !json { StandardError.write(receipt.line) }
        let failure = try await failure(of: receipt, within: wait.duration)
        let state = failure.map(\.state) ?? .finished
        if json {
            let more: KeyValuePairs<String, JSONOutput> = [
                "state": .text(orNull: state?.rawValue), "error": .text(orNull: failure?.reason),
            ]
            StandardOutput.write(written.with(more).bytes)
        } else if let state, failure?.isOutOfTime != true {
            StandardOutput.write(state.rawValue)
        }
        if let failure { throw CommandFailure(failure) }
    }

    private func refuseUnknown(_ receipt: WorkflowReceipt) throws(CommandFailure) {
        guard receipt.outcome == .unknown else { return }
        throw CommandFailure(
            "the broker did not confirm the workflow: it runs whole or not at all. "
                + "Push it again with --id \(receipt.workflow): that never makes a second workflow",
            ExitStatus.unknown
        )
    }

    /// Waits for the end; returns why the workflow has not finished, or `nil` if it has.
    private func failure(of receipt: WorkflowReceipt, within limit: Duration?) async throws -> WorkflowNotFinished? {
        let showing = Task { await showProgress(of: receipt) }
        let result: Result<WorkflowNotFinished?, any Error>
        do {
            try await producer.result(of: receipt, within: limit)
            result = .success(nil)
        } catch let failure as WorkflowNotFinished { result = .success(failure) } catch { result = .failure(error) }
        showing.cancel()
        await showing.value
        return try result.get()
    }

    /// Draws a bar until the workflow has ended or the task is cancelled; nothing if standard error is no terminal.
    private func showProgress(of receipt: WorkflowReceipt) async {
        guard !json, Terminal.readsStandardError, !StandardError.writesEntries else { return }
        var bar = ProgressBar(total: nil)
        var total: Int?
        do {
            for try await record in producer.updates(of: receipt) {
                // Jobs may be added meanwhile.
                if record.count != total { bar = ProgressBar(total: Int64(record.count)) }
                total = record.count
                let ended = record.count - record.open
                bar.update(Int64(ended), "\(ended.grouped) of \(record.count.counted("job"))")
            }
        } catch {
            // The wait itself reports the error.
        }
        bar.hide()
    }
}

extension WorkflowReceipt {
    /// The receipt for people.
    fileprivate var line: String {
        let what = outcome == .dropped ? "(it has the name)" : "with \(jobs.count.counted("job"))"
        return "\(outcome.rawValue) workflow \(workflow) \(what)"
    }
}

extension CommandFailure {
    /// Makes the failure of a command whose workflow has not finished.
    fileprivate init(_ failure: WorkflowNotFinished) {
        let reason = failure.reason.map { ": \($0)" } ?? ""
        guard !failure.isOutOfTime else {
            let standing = failure.state == nil ? "; its state cannot be read" : reason
            let time = failure.limit.map { " within \(DurationText.format($0))" } ?? " in time"
            self.init("workflow \(failure.id) has not ended\(time)\(standing)", ExitStatus.unknown)
            return
        }
        guard let state = failure.state else {
            self.init(
                "workflow \(failure.id) is not kept any more: it ended more than a day ago, or was deleted",
                ExitStatus.unknown
            )
            return
        }
        self.init("workflow \(failure.id) is \(state.rawValue)\(reason)", ExitStatus.unsuccessful)
    }
}
