import Backgroundable
import Logging

/// The broker's queue for task requests.
struct TaskPlace: Sendable {
    let broker: any Broker
    let queue: String
    let logger: Logger

    private static let mostPushes = 6

    /// Pushes one job, and repeats the push while its reply is lost; with the same id it is accepted only once.
    func push(_ description: OperationDescription) async throws(TaskScheduler.Error) -> Receipt {
        try await push(description, on: broker)
    }

    func push(
        _ description: OperationDescription,
        on broker: any PushingBroker
    ) async throws(TaskScheduler.Error) -> Receipt {
        let envelope = try makeEnvelope(description)
        var loss: BrokerError?
        var pause = Duration.milliseconds(50)
        for _ in 0..<Self.mostPushes {
            do throws(BrokerError) {
                let receipt = try await broker.push([envelope], to: queue).first
                if let receipt, receipt.outcome != .unknown { return receipt }
                loss = loss ?? BrokerError(.outcomeUnknown, "the broker's reply was lost")
            } catch {
                // After a lost reply the job may exist, whatever happens later.
                if loss == nil, error.code != .outcomeUnknown { throw TaskScheduler.Error(error) }
                loss = error
            }
            try? await Task.sleep(for: pause)
            pause *= 2
        }
        throw TaskScheduler.Error(
            .outcomeUnknown,
            "the broker did not confirm the request, so it may or may not have been carried out; make it again, which does no harm: \(loss?.message ?? "")"
        )
    }

    /// Cancels jobs, with at most 500 in a call, the limit of every broker.
    func cancel(_ ids: [String]) async throws(TaskScheduler.Error) {
        do throws(BrokerError) {
            for start in stride(from: 0, to: ids.count, by: 500) {
                _ = try await broker.cancel(Array(ids[start..<min(start + 500, ids.count)]), on: queue)
            }
        } catch {
            throw TaskScheduler.Error(error)
        }
    }

    private func makeEnvelope(_ description: OperationDescription) throws(TaskScheduler.Error) -> JobEnvelope {
        do throws(DescriptionError) {
            return try description.makeEnvelope()
        } catch {
            throw TaskScheduler.Error(error)
        }
    }
}

extension TaskScheduler.Error {
    init(_ error: BrokerError) {
        let code: Code =
            switch error.code {
            case .full: .tooManyPendingTaskRequests
            case .outcomeUnknown: .outcomeUnknown
            default: .unavailable
            }
        self.init(code, error.message)
    }

    init(_ error: DescriptionError) {
        self.init(
            .unavailable,
            "the broker cannot keep the request (its identifier must be 1 to 121 of the characters A-Z a-z 0-9 _ . -): \(error)"
        )
    }
}
