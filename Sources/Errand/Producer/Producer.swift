#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Pushes operation descriptions to a broker.
///
/// ```swift
/// let producer = Producer(broker: broker)
/// let description = try OperationDescription("thumbnail", arguments: ["path": "a.jpg"], unique: .drop)
/// let receipt = try await producer.push(description)
/// ```
public struct Producer: Sendable {
    let broker: any ProducingBroker
    private let now: (@Sendable () -> Date)?
    let middleware: MiddlewareChain

    /// Makes a producer.
    ///
    /// - Parameters:
    ///   - broker: the broker that stores the jobs.
    ///   - middleware: the middleware around every push of descriptions and typed jobs, the outermost first.
    ///   - now: the clock from which delays count; by default the broker's, which every push with a delay then asks for
    ///     the time.
    public init(
        broker: any ProducingBroker,
        middleware: [any JobMiddleware] = [],
        now: (@Sendable () -> Date)? = nil
    ) {
        self.now = now
        self.broker = broker
        self.middleware = MiddlewareChain(middleware)
    }

    /// Returns the time from which a delay counts. This machine's clock may be wrong, so it is not used for delays.
    func start(of options: PushOptions, on queue: String) async throws(BrokerError) -> Date {
        try await start(hasDelay: options.hasDelay, on: queue)
    }

    /// Returns the time from which delays count, if there are some.
    func start(hasDelay: Bool, on queue: String) async throws(BrokerError) -> Date {
        if let now { return now() }
        guard hasDelay else { return Date() }
        return Date(timeIntervalSince1970: Double(try await broker.now(on: queue)) / 1000)
    }

    /// Pushes one description.
    ///
    /// - Throws: `DescriptionError` if the description is invalid, ``BrokerError`` if the broker certainly did not
    ///   accept it. A lost reply does not throw: the receipt's outcome is `unknown`, and pushing the description again
    ///   with the receipt's id never creates a second job.
    @discardableResult
    public func push(_ description: OperationDescription) async throws -> Receipt {
        let receipts = try await push(contentsOf: [description])
        guard let receipt = receipts.first else {
            throw BrokerError(
                .protocolViolation,
                "no receipt was returned for the job, so it may not have been pushed; a middleware must return the receipts of "
                    + "the next one, or throw"
            )
        }
        return receipt
    }

    /// Pushes many descriptions, with one call for each queue and in order. A full queue does not affect the others, and
    /// neither does one whose server in a cluster does not reply.
    ///
    /// - Returns: a receipt for each description, in order. If the broker accepted the jobs of some queues only, or
    ///   refused some because their group is full, the receipts of the others are `unknown`; push these again later, which
    ///   never adds a job twice.
    /// - Throws: as ``push(_:)-(OperationDescription)``; the broker has then accepted no job.
    public func push(contentsOf descriptions: [OperationDescription]) async throws -> [Receipt] {
        try await middleware.push(descriptions) { descriptions in
            try await push(
                envelopes: descriptions.map { description throws(DescriptionError) in try description.makeEnvelope() }
            )
        }
    }

    /// Pushes complete envelopes, as ``push(contentsOf:)`` does.
    public func push(envelopes: [JobEnvelope]) async throws(BrokerError) -> [Receipt] {
        var lost = LostQueues()
        let results = await byQueue(envelopes, &lost) { envelopes, queue in
            do throws(BrokerError) {
                return try await broker.push(envelopes, to: queue).map(Result.success)
            } catch {
                return envelopes.indices.map { index in
                    error.taken?[index].map(Result.success) ?? .failure(error)
                }
            }
        }
        let isTaken = results.contains { if case .success = $0 { true } else { false } }
        if !isTaken, let first = results.first { return [try first.get()] }
        return zip(envelopes, results).map { envelope, result in
            (try? result.get()) ?? envelope.receipt(.unknown)
        }
    }

    /// Sends the jobs of each queue with `push`, in order.
    ///
    /// - Parameter lost: the queues that are not tried, because their servers do not reply; it gets further ones.
    /// - Returns: for each job its receipt, or the error with which the broker certainly did not accept it.
    func byQueue(
        _ envelopes: [JobEnvelope],
        _ lost: inout LostQueues,
        push: ([JobEnvelope], String) async -> [Result<Receipt, BrokerError>]
    ) async -> [Result<Receipt, BrokerError>] {
        var order: [String] = []
        var positions: [String: [Int]] = [:]
        for (position, envelope) in envelopes.enumerated() {
            if positions[envelope.queue] == nil { order.append(envelope.queue) }
            positions[envelope.queue, default: []].append(position)
        }
        var results = envelopes.map { Result<Receipt, BrokerError>.success($0.receipt(.unknown)) }
        for queue in order {
            let wanted = positions[queue] ?? []
            if let reason = lost.reason(for: queue) {
                for position in wanted { results[position] = .failure(reason) }
                continue
            }
            var failure: BrokerError?
            for (position, result) in zip(wanted, await push(wanted.map { envelopes[$0] }, queue)) {
                results[position] = result
                if case .failure(let error) = result { failure = error }
            }
            if let failure { await lost.note(failure, of: queue, among: order, on: broker) }
        }
        return results
    }
}

extension JobEnvelope {
    func receipt(_ outcome: Receipt.Outcome) -> Receipt { Receipt(id: id, queue: queue, outcome: outcome) }
}
