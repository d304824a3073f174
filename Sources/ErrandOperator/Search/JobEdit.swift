import Crypto
package import Errand

/// Puts a dead job back to work with another description: it is pushed as a new job, and the dead one goes when that was
/// taken.
///
/// Whatever happens in between, nothing is lost: at worst the dead job is still there, too. And doing the same again is
/// safe: the new job has the same id each time, so there is only one.
package struct JobEdit: Sendable {
    /// What became of it.
    package enum Outcome: Sendable, Equatable {
        /// The new job was taken; whether the dead one is gone.
        case pushed(Receipt, removed: Bool)
        /// The new job was not taken; the dead one stays.
        case refused(Receipt)
        /// The new job was taken; whether the dead one was removed is not known.
        case pushedAndMaybeRemoved(Receipt, because: BrokerError)
        /// The answer was lost: the new job may or may not have been taken; the dead one stays.
        case unknown(Receipt)
        /// Only dead jobs are edited.
        case notDead
        /// The broker does not know the job.
        case notFound
    }

    private let broker: any Broker
    private let id: String
    private let queue: String

    /// Makes an edit of a job.
    package init(_ broker: any Broker, _ id: String, on queue: String) {
        self.broker = broker
        self.id = id
        self.queue = queue
    }

    /// The description of the dead job, without its id.
    ///
    /// - Returns: `nil` when the job is not dead, or cannot be read.
    package func description() async throws(BrokerError) -> OperationDescription? {
        guard let record = try await broker.inspect([id], on: queue).first ?? nil, record.state == .dead else {
            return nil
        }
        return JobSummary(record, in: queue).stored?.description.withoutID()
    }

    /// Pushes the new description and removes the dead job.
    ///
    /// - Parameter description: What the new job is to do; an id in it does not count.
    package func replace(with description: OperationDescription) async throws -> Outcome {
        guard let record = try await broker.inspect([id], on: queue).first ?? nil else { return .notFound }
        guard record.state == .dead else { return .notDead }
        let new = description.withoutID()
        let job = try new.makeEnvelope { newID(of: new, after: record) }
        guard let receipt = try await broker.push([job], to: job.queue).first else { return .notFound }
        switch receipt.outcome {
        // The id is of this edit alone: what exists is what an earlier try has pushed.
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

    /// The same for the same change of the same death, so that a second try makes no second job, for as long as the broker remembers
    /// ids.
    private func newID(of new: OperationDescription, after record: JobRecord) -> String {
        let death = record.at ?? 0
        let digest = SHA256.hash(data: Array("\(queue)\n\(id)\n\(death)\n".utf8) + new.encoded())
        let digits = digest.prefix(12).map { String(Int($0) + 256, radix: 16).dropFirst() }
        return "edit-\(death)-\(digits.joined())"
    }
}
