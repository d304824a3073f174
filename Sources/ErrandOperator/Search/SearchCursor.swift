package import Errand

/// The place where a search continues: a queue, a state and a position.
package struct SearchCursor: Sendable, Equatable {
    /// The queue.
    package var queue: String
    /// The state.
    package var state: JobState
    /// The position in the state, from 0.
    package var position: Int

    /// Makes a cursor.
    package init(queue: String, state: JobState, position: Int) {
        self.queue = queue
        self.state = state
        self.position = position
    }

    /// Parses the format of ``text``; returns `nil` for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, QueueName.isValid(String(parts[0])), let state = JobState(rawValue: String(parts[1])),
            let position = Int(parts[2]), position >= 0
        else { return nil }
        self.init(queue: String(parts[0]), state: state, position: position)
    }

    /// The cursor for a command line or a URL: `images:dead:20000`.
    package var text: String { "\(queue):\(state.rawValue):\(position)" }
}
