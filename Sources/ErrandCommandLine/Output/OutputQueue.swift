import Backgroundable
import Dispatch
import Synchronization

/// Lines for a descriptor that may have no reader. A separate thread writes them, and no caller waits.
///
/// The queue keeps the order, and writes each line at once. At most a mebibyte waits. Further lines are dropped and
/// counted; their number is written in their place.
final class OutputQueue: Sendable {
    fileprivate enum Item {
        case line([UInt8])
        /// Signalled when all items before it are written.
        case mark(DispatchSemaphore)
    }

    fileprivate struct State {
        var items: [Item] = []
        /// The size of all unwritten lines.
        var bytes = 0
        var dropped = 0
        var hasThread = false
    }

    static let mostBytes = 1 << 20

    private let state = Mutex(State())
    private let news = DispatchSemaphore(value: 0)
    private let descriptor: OutputDescriptor
    private let lineAboutDropped: @Sendable (Int) -> [UInt8]

    /// Makes a queue; `lineAboutDropped` returns the line that replaces a number of dropped ones.
    init(to descriptor: OutputDescriptor, lineAboutDropped: @escaping @Sendable (Int) -> [UInt8]) {
        self.descriptor = descriptor
        self.lineAboutDropped = lineAboutDropped
    }

    /// Adds a line with its line feed.
    func add(_ line: [UInt8]) {
        let needsThread = state.withLock { state in
            guard state.bytes + line.count <= Self.mostBytes else {
                state.dropped += 1
                return false
            }
            if let note = takeNote(&state) { state.append(note) }
            state.append(line)
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if needsThread { DedicatedThread.start("errand-output") { [self] in writeForEver() } }
        news.signal()
    }

    /// Returns a semaphore that is signalled when all lines so far are written.
    func mark() -> DispatchSemaphore {
        let mark = DispatchSemaphore(value: 0)
        let isIdle = state.withLock { state in
            state.items.append(.mark(mark))
            return !state.hasThread
        }
        // Without a thread there were no lines.
        if isIdle { mark.signal() } else { news.signal() }
        return mark
    }

    private func takeNote(_ state: inout State) -> [UInt8]? {
        guard state.dropped > 0 else { return nil }
        defer { state.dropped = 0 }
        return lineAboutDropped(state.dropped)
    }

    private func writeForEver() {
        while true {
            news.wait()
            for item in take() { finish(item) }
        }
    }

    private func take() -> [Item] {
        state.withLock { state in
            if let note = takeNote(&state) { state.append(note) }
            defer { state.items = [] }
            return state.items
        }
    }

    private func finish(_ item: Item) {
        switch item {
        case .mark(let mark): mark.signal()
        case .line(let line):
            // A failed write cannot be reported.
            _ = descriptor.write(line)
            state.withLock { $0.bytes -= line.count }
        }
    }
}

extension OutputQueue.State {
    fileprivate mutating func append(_ line: [UInt8]) {
        items.append(.line(line))
        bytes += line.count
    }
}
