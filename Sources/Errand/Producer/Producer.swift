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
    private let middleware: MiddlewareChain

    /// Makes a producer.
    ///
    /// - Parameters:
    ///   - broker: where the jobs go.
    ///   - middleware: what is done around every push of descriptions and typed jobs, the outermost first.
    ///   - now: the clock from which delays count; the broker's unless said, which every delayed push then asks for the time.
    public init(
        broker: any ProducingBroker,
        middleware: [any JobMiddleware] = [],
        now: (@Sendable () -> Date)? = nil
    ) {
        self.now = now
        self.broker = broker
        self.middleware = MiddlewareChain(middleware)
    }

    /// The time from which a delay counts. This machine's clock may be wrong, and decides nothing.
    func start(of options: PushOptions) async throws(BrokerError) -> Date {
        if let now { return now() }
        guard options.delay != nil, options.delayUntil == nil else { return Date() }
        return Date(timeIntervalSince1970: Double(try await broker.now()) / 1000)
    }

    /// Pushes one description.
    ///
    /// - Throws: `DescriptionError` for a description that cannot be pushed as it stands, ``BrokerError`` when the
    ///   broker certainly did not take it. A lost answer does not throw: the receipt says `unknown`, and pushing the
    ///   description again with the receipt's id never makes a second job.
    @discardableResult
    public func push(_ description: OperationDescription) async throws -> Receipt {
        let receipts = try await push(contentsOf: [description])
        guard let receipt = receipts.first else { throw BrokerError(.protocolViolation, "the broker gave no receipt") }
        return receipt
    }

    /// Pushes many descriptions, those of one queue in one call and in order.
    ///
    /// - Returns: a receipt for each, in their order. When the broker fails after having taken some queue's jobs, the
    ///   receipts of the others are `unknown`.
    /// - Throws: as ``push(_:)``; nothing was taken then.
    public func push(contentsOf descriptions: [OperationDescription]) async throws -> [Receipt] {
        try await middleware.push(descriptions) { descriptions in
            try await push(
                envelopes: descriptions.map { description throws(DescriptionError) in try description.settled() }
            )
        }
    }

    /// Pushes jobs that are settled already.
    public func push(envelopes: [JobEnvelope]) async throws(BrokerError) -> [Receipt] {
        var order: [String] = []
        var positions: [String: [Int]] = [:]
        for (position, envelope) in envelopes.enumerated() {
            if positions[envelope.queue] == nil { order.append(envelope.queue) }
            positions[envelope.queue, default: []].append(position)
        }
        var receipts = envelopes.map { Receipt(id: $0.id, queue: $0.queue, outcome: .unknown) }
        var somethingTaken = false
        for queue in order {
            let wanted = positions[queue] ?? []
            do throws(BrokerError) {
                for (position, receipt) in zip(wanted, try await broker.push(wanted.map { envelopes[$0] }, to: queue)) {
                    receipts[position] = receipt
                }
                somethingTaken = true
            } catch {
                if !somethingTaken { throw error }
            }
        }
        return receipts
    }
}
