package import Errand
import ErrandText

/// Replaces a dead job by one with another description: pushes a new job and deletes the dead one once the push is
/// accepted.
///
/// A failure in between loses nothing: at worst the dead job is still there, too. Repeating the same edit is safe,
/// because the new job has the same id each time.
package struct JobEdit: Sendable {
    /// The outcome of an edit.
    package enum Outcome: Sendable, Equatable {
        /// The new job was accepted; `removed` is whether the dead one was deleted.
        case pushed(Receipt, removed: Bool)
        /// The new job was dropped; the dead one stays.
        case refused(Receipt)
        /// The new job was accepted; it is not known whether the dead one was deleted.
        case pushedAndMaybeRemoved(Receipt, because: BrokerError)
        /// The reply was lost: the new job may or may not have been accepted. The dead one stays.
        case unknown(Receipt)
        /// The job is not dead, and only dead jobs can be edited.
        case notDead
        /// This workflow waits for the job. A new one would have no place there, and without the dead one what comes after
        /// it would be skipped.
        case holdsUp(WorkflowID)
        /// The broker does not have the job.
        case notFound
    }

    private let broker: any Broker
    private let id: String
    private let queue: String

    /// Makes an edit of one job.
    package init(_ broker: any Broker, _ id: String, on queue: String) {
        self.broker = broker
        self.id = id
        self.queue = queue
    }

    /// Reads the description of the dead job, without its id.
    ///
    /// - Returns: `nil` if the job is not dead or cannot be read.
    package func description() async throws(BrokerError) -> OperationDescription? {
        guard let record = try await broker.inspect([id], on: queue).first ?? nil, record.state == .dead else {
            return nil
        }
        return JobSummary(record, in: queue).stored?.description.withoutID()
    }

    /// Returns the workflow that waits for the dead job, so that it cannot be edited; `nil` if there is none.
    package func heldUpWorkflow() async throws(BrokerError) -> WorkflowID? {
        guard let record = try await broker.inspect([id], on: queue).first ?? nil else { return nil }
        return try await heldUpWorkflow(record)
    }

    private func heldUpWorkflow(_ job: JobRecord) async throws(BrokerError) -> WorkflowID? {
        guard job.state == .dead else { return nil }
        for workflow in job.workflows {
            if let record = try await broker.workflow(workflow), record.endedAt == nil, record.dead > 0 {
                return workflow
            }
        }
        return nil
    }

    /// Pushes the new description and deletes the dead job.
    ///
    /// - Parameter description: The description of the new job; an id in it is ignored.
    package func replace(with description: OperationDescription) async throws -> Outcome {
        guard let record = try await broker.inspect([id], on: queue).first ?? nil else { return .notFound }
        guard record.state == .dead else { return .notDead }
        if let workflow = try await heldUpWorkflow(record) { return .holdsUp(workflow) }
        let new = description.withoutID()
        let job = try new.makeEnvelope { newID(of: new, after: record) }
        guard let receipt = try await broker.push([job], to: job.queue).first else { return .notFound }
        switch receipt.outcome {
        // Only this edit uses the id, so an existing job is the one that an earlier attempt pushed.
        case .accepted, .replaced, .deferred, .exists: break
        case .dropped: return .refused(receipt)
        case .unknown: return .unknown(receipt)
        }
        do throws(BrokerError) {
            return .pushed(receipt, removed: try await broker.delete([id], on: queue).first == .deleted)
        } catch {
            return .pushedAndMaybeRemoved(receipt, because: error)
        }
    }

    /// Returns the same id for the same change of the same dead job, so that a second attempt makes no second job, as
    /// long as the broker remembers ids.
    private func newID(of new: OperationDescription, after record: JobRecord) -> String {
        let death = record.at ?? 0
        let digest = SHA256.hex(Array("\(queue)\n\(id)\n\(death)\n".utf8) + new.encoded())
        return "edit-\(death)-\(digest.prefix(24))"
    }
}

extension Receipt {
    /// Why the new job of an edit was not accepted, for people.
    package var refusalOfEdit: String {
        "the new job was not accepted: \(outcome.rawValue)" + (holder.map { ", \($0) holds the name" } ?? "")
            + "; the dead one stays"
    }
}
