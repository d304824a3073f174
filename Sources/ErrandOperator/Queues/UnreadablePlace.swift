package import Errand

/// A part of the data that cannot be read or changed, with the reason: a corrupt key, or one that the user has no
/// permission for.
package struct UnreadablePlace: Sendable, Equatable {
    /// An access that fails.
    package enum Use: String, Sendable {
        case read
        case changed
    }

    /// The queue.
    package let queue: String
    /// The state whose jobs cannot be listed; `nil` if more than one state is affected.
    package let state: JobState?
    /// The reason, which names the key if the broker reports it.
    package let error: BrokerError
    /// The access that fails.
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

    /// The place as JSON for programs.
    package var json: JSONOutput {
        ["queue": .text(queue), "state": .text(orNull: state?.rawValue), "problem": .text(error.message)]
    }
}

extension BrokerError {
    /// Whether the error affects only a part of the data, so that the broker may still serve the rest.
    package var isOfOnePlace: Bool { [.refused, .notPermitted].contains(code) || concernsOneQueue }
}

extension [String] {
    /// Reads something of each of these queues, and returns those that cannot be read separately.
    ///
    /// - Throws: An error that affects all queues, such as a broker that cannot be reached. If only some servers of a
    ///   cluster cannot be reached, their queues are among those that cannot be read.
    package func readingEach<Value: Sendable>(
        _ read: @escaping @Sendable (_ queue: String) async throws(BrokerError) -> Value
    ) async throws(BrokerError) -> (values: [(queue: String, value: Value)], unreadable: [UnreadablePlace]) {
        let results = try await concurrently { queue async throws(BrokerError) -> Result<Value, BrokerError> in
            do throws(BrokerError) { return .success(try await read(queue)) } catch {
                guard error.isOfOnePlace || error.code == .notReachable else { throw error }
                return .failure(error)
            }
        }
        if case .failure(let error)? = results.first, error.code == .notReachable,
            results.allSatisfy({ if case .failure(let other) = $0 { other.code == .notReachable } else { false } })
        {
            throw error
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
