import Foundation
import Synchronization
import TestSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A process whose output is collected as it arrives. It is killed if it takes longer than a test may.
final class RunningExecutable: Sendable {
    private static let longest = 120.0
    private static let ignoreBrokenPipes: Void = ignoreSignal(SIGPIPE)
    private static let living = Mutex<Set<Int32>>([])
    /// Processes that a test has left running end with the tests.
    private static let endAtExit = atexit { living.withLock { for pid in $0 { kill(pid, SIGKILL) } } }

    let pid: Int32
    private let input = Pipe.forOneChild()
    private let output = Gathering()
    private let error = Gathering()
    private let ended = Promise<Int32>()

    /// Starts it.
    ///
    /// - Parameters:
    ///   - onTerminal: Whether it gets a terminal for input and output; arguments must then be plain words.
    ///   - shell: A shell command that runs it as `"$@"`.
    init(
        _ executable: Executable,
        _ arguments: [String],
        environment: [String: String] = [:],
        onTerminal: Bool = false,
        shell: String? = nil
    ) throws {
        _ = Self.ignoreBrokenPipes
        _ = Self.endAtExit
        let process = Process()
        if onTerminal {
            process.executableURL = URL(filePath: "/usr/bin/script")
            let words = ["exec", "'\(try executable.url.path)'"] + arguments
            process.arguments = ["-qec", words.joined(separator: " "), "/dev/null"]
        } else if let shell {
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", shell, "sh", try executable.url.path] + arguments
        } else {
            process.executableURL = try executable.url
            process.arguments = arguments
        }
        let inherited = ProcessInfo.processInfo.environment.filter {
            ["PATH", "LD_LIBRARY_PATH", "TMPDIR"].contains($0.key)
        }
        process.environment = inherited.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = output.pipe
        process.standardError = error.pipe
        let ended = ended
        process.terminationHandler = { [writing, input] in
            ended.keep($0.terminationReason == .exit ? $0.terminationStatus : -$0.terminationStatus)
            let pid = $0.processIdentifier
            Self.living.withLock { _ = $0.remove(pid) }
            // Foundation keeps every process on Linux, with its pipes, of which there would be hundreds.
            writing.async { try? input.fileHandleForWriting.close() }
        }
        try process.start()
        let pid = process.processIdentifier
        self.pid = pid
        Self.living.withLock { if !ended.isKept { _ = $0.insert(pid) } }
        output.start()
        error.start()
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.longest) {
            if !ended.isKept { kill(pid, SIGKILL) }
        }
    }

    /// Writes its input in the background, so that it may read slowly.
    func write(_ bytes: [UInt8]) {
        writing.async { [input] in try? input.fileHandleForWriting.write(contentsOf: Data(bytes)) }
    }

    /// Ends its input.
    func closeInput() { writing.async { [input] in try? input.fileHandleForWriting.close() } }

    var hasEnded: Bool { ended.isKept }

    func signal(_ number: Int32) { if !ended.isKept { send(number, toChild: pid) } }

    /// Waits for such a line on standard output, and returns it.
    func line(where isWanted: @escaping @Sendable (String) -> Bool) async throws -> String {
        try await output.line(where: isWanted)
    }

    /// Waits for such a line on standard error, and returns it.
    func errorLine(where isWanted: @escaping @Sendable (String) -> Bool) async throws -> String {
        try await error.line(where: isWanted)
    }

    /// Waits for its end.
    func end() async -> Output {
        let status = await ended.value
        return Output(status: status, bytes: await output.all, error: String(decoding: await error.all, as: UTF8.self))
    }

    private let writing = DispatchQueue(label: "test-input")
}

private func ignoreSignal(_ number: Int32) { signal(number, SIG_IGN) }

/// Reads a pipe on a thread of its own.
private final class Gathering: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var isAtEnd = false
        var waiting: [@Sendable ([UInt8], Bool) -> Bool] = []
    }

    let pipe = Pipe.forOneChild()
    private let state = Mutex(State())

    func start() {
        try? pipe.fileHandleForWriting.close()
        let file = pipe.fileHandleForReading.fileDescriptor
        let thread = Thread { [self] in
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = read(file, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                let bytes = Array(buffer.prefix(max(0, count)))
                state.withLock { state in
                    state.bytes += bytes
                    state.isAtEnd = count <= 0
                    let (now, isAtEnd) = (state.bytes, state.isAtEnd)
                    state.waiting.removeAll { $0(now, isAtEnd) }
                }
                if count <= 0 { break }
            }
            try? pipe.fileHandleForReading.close()
        }
        thread.start()
    }

    /// Calls `look` with the current text and after every read, until it returns `true`.
    private func watch(_ look: @escaping @Sendable ([UInt8], Bool) -> Bool) {
        state.withLock { state in
            if !look(state.bytes, state.isAtEnd) { state.waiting.append(look) }
        }
    }

    var all: [UInt8] {
        get async {
            let promise = Promise<[UInt8]>()
            watch { bytes, isAtEnd in
                if isAtEnd { promise.keep(bytes) }
                return isAtEnd
            }
            return await promise.value
        }
    }

    func line(where isWanted: @escaping @Sendable (String) -> Bool) async throws -> String {
        let promise = Promise<String?>()
        watch { bytes, isAtEnd in
            let end = bytes.lastIndex(of: 10).map { $0 + 1 } ?? 0
            // By bytes, because in a string a terminal's line ending is another character.
            let lines = bytes[..<end].split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
            let found = lines.first(where: isWanted)
            if found != nil || isAtEnd { promise.keep(found) }
            return found != nil || isAtEnd
        }
        guard let line = await promise.value else { throw TestFailure("it ended without the line that was waited for") }
        return line
    }
}

/// A value that becomes available later.
private final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [CheckedContinuation<Value, Never>] = []
    }

    private let state = Mutex(State())

    var isKept: Bool { state.withLock { $0.value != nil } }

    func keep(_ value: Value) {
        let waiting = state.withLock { state in
            guard state.value == nil else { return [] as [CheckedContinuation<Value, Never>] }
            state.value = value
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }

    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let value = state.withLock { state in
                    if state.value == nil { state.waiting.append(continuation) }
                    return state.value
                }
                if let value { continuation.resume(returning: value) }
            }
        }
    }
}
