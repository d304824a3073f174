import Errand
import Synchronization

/// An input of `errand top`.
enum TopInput: Sendable {
    /// Moves the selection this number of queues down, or up if it is negative.
    case move(Int)
    case character(Character)
    /// The subscription to failures is established.
    case listening
    case failures([JobEvent])
    /// The progress of an action on many jobs.
    case progress(String)
    /// A problem to show to the user.
    case problem(String)
    case tick
    /// Standard input has ended.
    case keysOver
    /// Exit immediately.
    case end

    /// Makes the input for a key.
    init(_ key: Key) {
        switch key {
        case .up: self = .move(-1)
        case .down: self = .move(1)
        case .character(let character): self = .character(character)
        }
    }
}

/// The inputs that arrived during a call to the broker: every key in order, and only the latest of each other kind, so
/// that no number of events displaces a key.
struct TopBacklog: Sendable {
    /// More keys than a person types; the rest was pasted.
    private static let mostKeys = 4096

    private var keys: ArraySlice<TopInput> = []
    /// At most one input of each kind, in the order in which the first of each arrived, so that none delays the others.
    private var others: [TopInput] = []
    private var areKeysOver = false
    private var isEnd = false

    mutating func add(_ input: TopInput) {
        switch input {
        case .move, .character: press(input)
        case .keysOver: areKeysOver = true
        case .end: isEnd = true
        case .listening, .failures, .progress, .problem, .tick: merge(input)
        }
    }

    /// Adds a key. Consecutive steps in one direction are merged, so a key that is held down takes no room. Steps in
    /// opposite directions are not merged, because the list has ends.
    private mutating func press(_ key: TopInput) {
        if case .move(let step) = key, case .move(let steps)? = keys.last, (step > 0) == (steps > 0) {
            keys[keys.endIndex - 1] = .move(steps + step)
        } else if keys.count < Self.mostKeys {
            keys.append(key)
        }
    }

    private mutating func merge(_ input: TopInput) {
        guard let place = others.firstIndex(where: { $0.isAlike(input) }) else { return others.append(input) }
        if case .failures(let later) = input, case .failures(let earlier) = others[place] {
            others[place] = .failures(Array((earlier + later).suffix(TopView.mostFailures)))
        } else {
            others[place] = input
        }
    }

    /// Returns the next input. Keys come first, because they relate to what the user sees.
    mutating func next() -> TopInput? {
        if isEnd { return .end }
        if let key = keys.popFirst() { return key }
        if areKeysOver { return .keysOver }
        return others.isEmpty ? nil : others.removeFirst()
    }
}

extension TopInput {
    fileprivate func isAlike(_ other: TopInput) -> Bool {
        switch (self, other) {
        case (.listening, .listening), (.failures, .failures), (.progress, .progress), (.problem, .problem),
            (.tick, .tick):
            true
        default: false
        }
    }
}

/// The queue of all inputs of `errand top`.
final class TopInputs: Sendable {
    private let backlog = Mutex(TopBacklog())
    private let pulses: AsyncStream<Void>
    private let pulse: AsyncStream<Void>.Continuation

    init() { (pulses, pulse) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    func add(_ input: TopInput) {
        backlog.withLock { $0.add(input) }
        pulse.yield()
    }

    /// Waits for the next input; `nil` if the task is cancelled.
    func next() async -> TopInput? {
        while true {
            if let input = backlog.withLock({ $0.next() }) { return input }
            guard await comesMore() else { return nil }
        }
    }

    private func comesMore() async -> Bool {
        for await _ in pulses { return true }
        return false
    }
}
