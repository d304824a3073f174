import Dispatch
import ErrandText
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads lines from a file or from standard input, in batches as they arrive.
///
/// Reading blocks a separate thread, never the threads of asynchronous code.
package final class LineInput: Sendable {
    private struct State {
        var splitter: LineSplitter
        var ready: [InputLine] = []
        var consumed: Int64 = 0
        var isAtEnd = false
    }

    /// The maximum number of lines of a batch.
    private static let batchLines = 500
    /// The approximate maximum size of a batch in bytes.
    private static let batchBytes = 8 << 20
    /// How long a line waits for more lines.
    private static let gathering = Duration.milliseconds(50)

    /// The name of the input in errors.
    package let name: String

    private let descriptor: Int32
    private let isOwned: Bool
    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "errand-input")

    /// The size in bytes, if the input is a file.
    package let size: Int64?

    /// Opens a file; `-` is standard input.
    ///
    /// - Parameter lineLimit: The maximum number of bytes of a line.
    package init(_ path: String, lineLimit: Int) throws(CommandFailure) {
        isOwned = path != "-"
        name = isOwned ? path : "standard input"
        descriptor = isOwned ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO
        guard descriptor >= 0 else {
            throw CommandFailure("\(path) cannot be read: \(TextFile.reason(errno, path))", ExitStatus.badInput)
        }
        var facts = stat()
        let isFile = fstat(descriptor, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
        size = isFile ? Int64(facts.st_size) : nil
        state = Mutex(State(splitter: LineSplitter(limit: lineLimit)))
    }

    deinit { if isOwned { close(descriptor) } }

    /// How many bytes have been read.
    package var consumed: Int64 { state.withLock(\.consumed) }

    /// Whether ``nextBatch()`` has returned the whole input.
    package var hasEnded: Bool { state.withLock { $0.isAtEnd && $0.ready.isEmpty } }

    /// Returns the available lines, up to a full batch; `nil` at the end. Waits only for the first line.
    package func nextBatch() async throws(CommandFailure) -> [InputLine]? {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<[InputLine]?, CommandFailure>, Never>) in
            queue.async { [self] in
                continuation.resume(returning: Result { () throws(CommandFailure) in try readBatch() })
            }
        }
        return try result.get()
    }

    private func readBatch() throws(CommandFailure) -> [InputLine]? {
        try state.withLock { state throws(CommandFailure) in
            var deadline: ContinuousClock.Instant?
            while !state.isAtEnd, !Self.isFull(state.ready) {
                if deadline == nil, !state.ready.isEmpty { deadline = .now + Self.gathering }
                guard isReadable(until: deadline) else { break }
                try read(into: &state)
            }
            return state.ready.isEmpty ? nil : Self.takeBatch(from: &state.ready)
        }
    }

    private static func isFull(_ lines: [InputLine]) -> Bool {
        batchEnd(of: lines) < lines.count || lines.count >= batchLines
    }

    private static func takeBatch(from lines: inout [InputLine]) -> [InputLine] {
        let end = batchEnd(of: lines)
        defer { lines.removeFirst(end) }
        return Array(lines[..<end])
    }

    private static func batchEnd(of lines: [InputLine]) -> Int {
        var bytes = 0
        for (index, line) in lines.enumerated().prefix(batchLines) {
            if case .bytes(let text) = line.content { bytes += text.count }
            if bytes > batchBytes { return max(index, 1) }
        }
        return min(lines.count, batchLines)
    }

    private func isReadable(until deadline: ContinuousClock.Instant?) -> Bool {
        while true {
            let wait =
                deadline.map { Int32(clamping: max(.zero, ContinuousClock.now.duration(to: $0)) / .milliseconds(1)) }
                ?? -1
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = poll(&polled, 1, wait)
            if count >= 0 || errno != EINTR { return count != 0 }
        }
    }

    private func read(into state: inout State) throws(CommandFailure) {
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        let count = bytes.withUnsafeMutableBytes { systemRead(descriptor, $0) }
        if count < 0 {
            if errno == EINTR || errno == EAGAIN { return }
            throw CommandFailure("\(name) cannot be read: \(FileProblem.words(for: errno))", ExitStatus.badInput)
        }
        if count == 0 {
            state.isAtEnd = true
            if let last = state.splitter.finish() { state.ready.append(last) }
            return
        }
        state.consumed += Int64(count)
        bytes.withUnsafeBufferPointer {
            state.splitter.take(UnsafeBufferPointer(rebasing: $0[..<count]), into: &state.ready)
        }
    }
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}

extension Int32 {
    fileprivate init(clamping number: Double) { self = number < Double(Int32.max) ? Int32(number.rounded(.up)) : .max }
}
