import Errand
import Synchronization

/// Something that `errand top` has to act on.
enum TopInput: Sendable {
    /// Select a queue so many places further down; up where it is less than 0.
    case move(Int)
    case character(Character)
    /// From now on failures are heard.
    case listening
    case failures([JobEvent])
    /// How far the work with many jobs is.
    case progress(String)
    /// Something that the one who looks has to know.
    case problem(String)
    case tick
    /// No key comes any more.
    case keysOver
    /// Leave at once.
    case end

    /// What a key asks for.
    init(_ key: Key) {
        switch key {
        case .up: self = .move(-1)
        case .down: self = .move(1)
        case .character(let character): self = .character(character)
        }
    }
}

/// What has come in while the broker was asked: every key, in its order, and of each other kind only what is latest, so that
/// however much happens to jobs, it pushes no key out.
struct TopBacklog: Sendable {
    /// More than anybody types; what is beyond it was pasted.
    private static let mostKeys = 4096

    private var keys: ArraySlice<TopInput> = []
    /// One of a kind at the most, in the order in which the first of each came: none of them can hold up the others.
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

    /// Steps in one direction are one, so a key that is held down takes no room. A step back is another: the list has ends.
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

    /// Takes what is to be acted on next. Keys go first: they are about what their presser sees.
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

/// Where all that `errand top` has to act on comes together.
final class TopInputs: Sendable {
    private let backlog = Mutex(TopBacklog())
    private let pulses: AsyncStream<Void>
    private let pulse: AsyncStream<Void>.Continuation

    init() { (pulses, pulse) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    func add(_ input: TopInput) {
        backlog.withLock { $0.add(input) }
        pulse.yield()
    }

    /// Waits for what is to be acted on next; `nil` when the task is cancelled.
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
