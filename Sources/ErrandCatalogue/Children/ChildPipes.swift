import Foundation

/// The worker's end of a child's standard input.
struct ChildInput {
    private var descriptor: Descriptor?
    private let bytes: [UInt8]
    private var written = 0

    init(_ descriptor: Descriptor, bytes: [UInt8]) {
        self.descriptor = descriptor
        self.bytes = bytes
    }

    /// What to wait for, until everything is written.
    var number: Int32? { descriptor?.number }

    /// Writes what fits into the pipe; closes it after the last byte, or when the child reads no more.
    mutating func write() {
        while let number, written < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                Foundation.write(number, bytes.baseAddress.map { $0 + written }, bytes.count - written)
            }
            if count < 0 && errno == EINTR { continue }
            if count < 0 && errno == EAGAIN { return }
            if count < 0 { return close() }
            written += count
        }
        close()
    }

    mutating func close() {
        descriptor = nil
    }
}

/// The worker's end of a child's standard output or standard error. It always reads on, so that the child never
/// waits, and keeps only a part.
struct ChildOutput {
    enum Part {
        case first(Int)
        case last(Int)
    }

    /// As much is read in one go, so that one child that writes a lot does not keep others waiting.
    private static let portion = 64 * 1024
    /// As much can lie in a pipe when the child has ended, unless somebody still writes.
    private static let mostInPipe = 1024 * 1024

    private var descriptor: Descriptor?
    private let part: Part
    private var bytes: [UInt8] = []

    init(_ descriptor: Descriptor, keeping part: Part) {
        self.descriptor = descriptor
        self.part = part
    }

    /// What to wait for, until the end.
    var number: Int32? { descriptor?.number }
    var isAtEnd: Bool { descriptor == nil }

    /// The part that is kept.
    var kept: [UInt8] {
        switch part {
        case .first: bytes
        case .last(let limit): Array(bytes.suffix(limit))
        }
    }

    /// Reads a portion of what is there.
    mutating func read() {
        _ = readPortion()
    }

    /// Reads what a child that has ended left in the pipe.
    mutating func drain() {
        var total = 0
        while total < Self.mostInPipe {
            let count = readPortion()
            guard count > 0 else { return }
            total += count
        }
    }

    /// - Returns: How many bytes there were; none when the pipe is empty or at its end.
    private mutating func readPortion() -> Int {
        guard let number else { return 0 }
        return withUnsafeTemporaryAllocation(byteCount: Self.portion, alignment: 16) { buffer in
            let count = Foundation.read(number, buffer.baseAddress, buffer.count)
            if count < 0 && (errno == EINTR || errno == EAGAIN) { return 0 }
            if count <= 0 {
                descriptor = nil
                return 0
            }
            keep(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            return count
        }
    }

    private mutating func keep(_ new: UnsafeRawBufferPointer) {
        switch part {
        case .first(let limit): bytes += new.prefix(max(limit - bytes.count, 0))
        case .last(let limit):
            bytes += new.suffix(limit)
            if bytes.count > 4 * limit { bytes.removeFirst(bytes.count - limit) }
        }
    }
}
