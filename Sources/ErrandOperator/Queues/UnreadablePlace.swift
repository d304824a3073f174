package import Errand

/// A part of the data that cannot be read or changed, and why: a damaged key, or one that the user has no permission for.
package struct UnreadablePlace: Sendable, Equatable {
    /// What cannot be done with a place.
    package enum Use: String, Sendable {
        case read
        case changed
    }

    /// The queue.
    package let queue: String
    /// The state whose jobs cannot be listed; `nil` where it is more than these.
    package let state: JobState?
    /// Why; it names the key where the broker does.
    package let error: BrokerError
    /// What it cannot be.
    package let use: Use

    /// Makes a place.
    package init(queue: String, state: JobState? = nil, error: BrokerError, use: Use = .read) {
        self.use = use
        self.queue = queue
        self.state = state
        self.error = error
    }

    /// The place and the reason, for people.
    package var description: String {
        "queue \(queue)\(state.map { ", \($0.rawValue) jobs" } ?? "") cannot be \(use.rawValue): \(error.message)"
    }

    /// The place as programs read it.
    package var json: JSONOutput {
        ["queue": .text(queue), "state": .text(orNull: state?.rawValue), "problem": .text(error.message)]
    }
}

extension BrokerError {
    /// Whether it concerns a part of the data only, so that the broker may still serve the rest.
    package var isOfOnePlace: Bool { [.refused, .notPermitted].contains(code) }
}

extension [String] {
    /// Reads something of each of these queues, and leaves out those that cannot be read.
    ///
    /// - Throws: what fails for all of them, such as a broker that cannot be reached.
    package func readingEach<Value: Sendable>(
        _ read: @escaping @Sendable (_ queue: String) async throws(BrokerError) -> Value
    ) async throws(BrokerError) -> (values: [(queue: String, value: Value)], unreadable: [UnreadablePlace]) {
        let results = try await concurrently { queue async throws(BrokerError) -> Result<Value, BrokerError> in
            do throws(BrokerError) { return .success(try await read(queue)) } catch {
                guard error.isOfOnePlace else { throw error }
                return .failure(error)
            }
        }
        var (values, unreadable): ([(queue: String, value: Value)], [UnreadablePlace]) = ([], [])
        for (queue, result) in zip(self, results) {
            switch result {
            case .success(let value): values.append((queue, value))
            case .failure(let error): unreadable.append(UnreadablePlace(queue: queue, error: error))
            }
        }
        return (values, unreadable)
    }
}
