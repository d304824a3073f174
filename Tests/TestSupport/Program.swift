import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// One of the executables of this package (or another program) as a process, with the lines that it wrote.
package final class Program: Sendable {
    private struct State {
        var lines: [String] = []
        var status: Int32?
        var isReadOut = false
        var signals: Set<Int32> = []
    }

    /// Its process id.
    package let pid: Int32
    private let process: Process
    private let state: Shared

    private final class Shared: Sendable {
        let state = Mutex(State())
    }

    /// Where SwiftPM put the executables: beside the tests.
    private static let directory: URL = {
        #if os(Linux)
            URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        #else
            Bundle(for: Program.self).bundleURL.deletingLastPathComponent()
        #endif
    }()

    /// Where an executable of this package is.
    package static func path(of name: String) -> String { directory.appendingPathComponent(name).path }

    /// Starts an executable of this package, or, with a slash in its name, any program.
    ///
    /// It reads nothing; both of its outputs are gathered as lines.
    package init(_ name: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        let process = Process()
        process.executableURL =
            name.contains("/") ? URL(fileURLWithPath: name) : Self.directory.appendingPathComponent(name)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe.forOneChild()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        let shared = Shared()
        state = shared
        process.terminationHandler = { ended in
            shared.state.withLock {
                $0.status = ended.terminationReason == .exit ? ended.terminationStatus : 128 + ended.terminationStatus
            }
        }
        try process.start()
        self.process = process
        pid = process.processIdentifier
        Thread { Self.read(output.fileHandleForReading, into: shared) }.start()
    }

    deinit { signal(SIGKILL) }

    private static func read(_ handle: FileHandle, into shared: Shared) {
        var rest: [UInt8] = []
        while let chunk = Sockets.arrived(at: handle.fileDescriptor) {
            rest += chunk
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest.removeFirst(end + 1)
                shared.state.withLock { $0.lines.append(line) }
            }
        }
        // Foundation keeps a process for good on Linux, and with it its pipe.
        try? handle.close()
        shared.state.withLock { $0.isReadOut = true }
    }

    /// What it has written so far, on both outputs.
    package var lines: [String] { state.state.withLock(\.lines) }
    /// Its exit status, 128 and the signal's number when a signal ended it; `nil` while it runs.
    package var status: Int32? { state.state.withLock(\.status) }
    /// Whether it runs.
    package var isRunning: Bool { status == nil }

    /// The signals that it was sent by ``signal(_:)`` while it ran.
    package var signals: Set<Int32> { state.state.withLock(\.signals) }

    /// Sends it a signal, unless it has ended.
    package func signal(_ number: Int32) {
        guard isRunning else { return }
        // Noted first: whoever sees its end must see why.
        state.state.withLock { _ = $0.signals.insert(number) }
        _ = kill(pid, number)
    }

    /// Kills it with all its children at once.
    package func killTree() async throws {
        // Stopped, it cannot start another child while we look.
        signal(SIGSTOP)
        for child in ProcessTree.descendants(of: pid) { _ = kill(child, SIGKILL) }
        signal(SIGKILL)
        try await eventually("killed process is gone") { !self.isRunning }
    }

    /// Waits for its end and answers its status.
    package func end(within limit: Duration = .seconds(120)) async throws -> Int32 {
        try await eventually("the end of process \(pid); it wrote \(lines.suffix(5))", within: limit) {
            !self.isRunning
        }
        // What it wrote last may still be in the pipe; a child of its own may hold that open for as long as it likes.
        try? await eventually("its output is read", within: .seconds(2)) { self.state.state.withLock(\.isReadOut) }
        return status ?? -1
    }
}
