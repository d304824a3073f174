package import Errand

/// Puts a dead job back to work with another description: it is pushed as a new job, and the dead one goes when that was
/// taken.
///
/// Whatever happens in between, nothing is lost: at worst the dead job is still there, too.
package struct JobEdit: Sendable {
    /// What became of it.
    package enum Outcome: Sendable, Equatable {
        /// The new job was taken; whether the dead one is gone.
        case pushed(Receipt, removed: Bool)
        /// The new job was not taken; the dead one stays.
        case refused(Receipt)
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
    package func replace(with description: OperationDescription) async throws -> Outcome {
        guard let record = try await broker.inspect([id], on: queue).first ?? nil else { return .notFound }
        guard record.state == .dead else { return .notDead }
        let job = try description.withoutID().settled()
        guard let receipt = try await broker.push([job], to: job.queue).first else { return .notFound }
        guard receipt.isTaken else { return .refused(receipt) }
        let verdict = try await broker.delete([id], on: queue).first
        return .pushed(receipt, removed: verdict == .deleted)
    }
}

extension Receipt {
    /// Whether the job will run.
    fileprivate var isTaken: Bool {
        switch outcome {
        case .accepted, .replaced, .deferred: true
        case .dropped, .exists, .unknown: false
        }
    }
}
