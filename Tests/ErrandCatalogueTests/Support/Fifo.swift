import Foundation

/// A named pipe that the processes of a test hold open for writing: its end is reached exactly when the last of them
/// is gone, so a test waits for deaths without looking again and again.
final class Fifo: Sendable {
    let path: String
    private let descriptor: Int32

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("errand-\(UUID().uuidString)").path
        guard mkfifo(path, 0o600) == 0 else { throw TestError("mkfifo: \(errno)") }
        // Non-blocking, so that opening does not wait for a writer.
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw TestError("open: \(errno)") }
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// Waits for the next line that a process writes.
    func line() async throws -> String {
        try await onThread { [self] in
            var line: [UInt8] = []
            while line.last != UInt8(ascii: "\n") {
                guard waitForInput() else { throw TestError("no line in time") }
                var byte: UInt8 = 0
                if read(descriptor, &byte, 1) == 1 { line.append(byte) }
            }
            return String(decoding: line.dropLast(), as: UTF8.self)
        }
    }

    /// Waits until no process has the pipe open any more.
    func end() async throws {
        try await onThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while read(descriptor, &buffer, buffer.count) != 0 {
                guard waitForInput() else { throw TestError("a process is still alive") }
            }
        }
    }

    /// Whether no process has the pipe open for writing.
    var isAtEnd: Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&state, 1, 0) > 0 && state.revents & Int16(POLLHUP) != 0
    }

    private func waitForInput() -> Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 20_000) > 0
    }
}

/// What went wrong in a test's own machinery.
struct TestError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Does something that blocks on a thread of its own, away from those that tasks share.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
