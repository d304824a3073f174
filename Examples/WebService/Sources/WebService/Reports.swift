import Errand
import Synchronization

/// What the service does with jobs, without HTTP: so it can be tested without a server.
final class Reports: Sendable {
    private let producer: Producer
    /// The receipts by user and id; a real service keeps them in its database, where a receipt is a column of JSON.
    private let receipts = Mutex<[String: [String: Receipt]]>([:])

    init(producer: Producer) { self.producer = producer }

    /// Has a report made. If it is being made already, the receipt is that of the earlier job.
    func start(_ month: String, for user: String) async throws -> Receipt {
        let receipt = try await producer.push(MakeReport(user: user, month: month))
        receipts.withLock { $0[user, default: [:]][receipt.id] = receipt }
        return receipt
    }

    /// The receipt of a user's own report; another user's does not exist for them.
    func receipt(_ id: String, of user: String) -> Receipt? { receipts.withLock { $0[user]?[id] } }

    func status(of receipt: Receipt) async throws -> JobRecord? { try await producer.job(receipt) }

    func updates(of receipt: Receipt) -> AsyncThrowingStream<JobRecord, any Error> { producer.updates(of: receipt) }

    func cancel(_ receipt: Receipt) async throws { try await producer.cancel(receipt) }

    /// Waits for the report.
    ///
    /// - Throws: `JobNotFinished` if it is not there in time.
    func result(of receipt: Receipt, within limit: Duration) async throws -> Report {
        try await producer.result(of: receipt, as: Report.self, within: limit)
    }
}
