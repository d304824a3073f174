import CErrandChild
import Foundation
import Synchronization

/// The worker's end of a child's standard input. Only the children's thread closes it; any thread may write.
final class ChildInput: Sendable {
    private struct State {
        var descriptor: Descriptor?
        var bytes: [UInt8]
        var written = 0
        /// Whether more bytes may follow those that are written.
        var staysOpen: Bool
        var isWritten: Bool { written == bytes.count }
    }

    private let state: Mutex<State>

    init(_ descriptor: Descriptor, bytes: [UInt8], staysOpen: Bool) {
        state = Mutex(State(descriptor: descriptor, bytes: bytes, staysOpen: staysOpen))
    }

    /// The descriptor to poll while there are bytes to write.
    var number: Int32? { state.withLock { $0.isWritten ? nil : $0.descriptor?.number } }

    /// Writes more bytes to an input that stays open, on any thread, as many as the pipe takes at once.
    ///
    /// - Returns: Whether the children's thread has to go on with ``write()``.
    func add(_ more: [UInt8]) -> Bool {
        state.withLock { state in
            guard state.isWritten, let descriptor = state.descriptor else {
                state.bytes += more
                return true
            }
            let count = errand_child_write(descriptor.number, more, UInt(more.count))
            (state.bytes, state.written) = count == more.count ? ([], 0) : (more, max(count, 0))
            return !state.isWritten
        }
    }

    /// Closes an input that stays open, after the bytes that it has.
    func finish() {
        state.withLock { $0.staysOpen = false }
        write()
    }

    /// Writes as many bytes as the pipe takes; closes it after the last byte, or if the child has closed its end.
    func write() {
        state.withLock { state in
            while let descriptor = state.descriptor, !state.isWritten {
                let written = state.written
                let count = state.bytes.withUnsafeBytes { bytes in
                    Foundation.write(descriptor.number, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                }
                if count < 0 && errno == EINTR { continue }
                if count < 0 && errno == EAGAIN { return }
                if count < 0 { return state.descriptor = nil }
                state.written += count
            }
            if !state.staysOpen { state.descriptor = nil }
        }
    }

    func close() { state.withLock { $0.descriptor = nil } }
}

/// The worker's end of a child's standard output or standard error. It always reads, so that the child never blocks,
/// and keeps only a part.
struct ChildOutput {
    enum Part {
        case first(Int)
        case last(Int)
        /// None; all of it is passed on.
        case none((UnsafeRawBufferPointer) -> Void)
    }

    /// What one read fills, for all outputs that a thread reads: so much that a child with much output does not delay others.
    final class Buffer {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
        deinit { bytes.deallocate() }
    }

    /// The maximum number of bytes in a pipe after the child has ended, unless another process still writes.
    private static let mostInPipe = 1024 * 1024

    private var descriptor: Descriptor?
    private let part: Part
    private let buffer: Buffer
    private var bytes: [UInt8] = []

    init(_ descriptor: Descriptor, keeping part: Part, _ buffer: Buffer) {
        self.descriptor = descriptor
        self.part = part
        self.buffer = buffer
    }

    /// The descriptor to poll, until the end.
    var number: Int32? { descriptor?.number }
    var isAtEnd: Bool { descriptor == nil }

    /// The kept part.
    var kept: [UInt8] {
        switch part {
        case .first, .none: bytes
        case .last(let limit): Array(bytes.suffix(limit))
        }
    }

    /// Reads a portion of the available bytes.
    mutating func read() {
        _ = readPortion()
    }

    /// Reads the bytes that an ended child has left in the pipe.
    mutating func drain() {
        var total = 0
        while total < Self.mostInPipe {
            let count = readPortion()
            guard count > 0 else { return }
            total += count
        }
    }

    /// Reads a portion.
    ///
    /// - Returns: The number of bytes; 0 if the pipe is empty or at its end.
    private mutating func readPortion() -> Int {
        guard let number else { return 0 }
        let count = Foundation.read(number, buffer.bytes.baseAddress, buffer.bytes.count)
        if count < 0 && (errno == EINTR || errno == EAGAIN) { return 0 }
        if count <= 0 {
            descriptor = nil
            return 0
        }
        keep(UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]))
        return count
    }

    private mutating func keep(_ new: UnsafeRawBufferPointer) {
        switch part {
        case .none(let pass): pass(new)
        case .first(let limit): bytes += new.prefix(max(limit - bytes.count, 0))
        case .last(let limit):
            bytes += new.suffix(limit)
            if bytes.count > 4 * limit { bytes.removeFirst(bytes.count - limit) }
        }
    }
}
