import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A process of one of this package's executables, or of another program, with its output.
package final class Program: Sendable {
    private struct State {
        var lines: [String] = []
        var status: Int32?
        var isReadOut = false
        var signals: Set<Int32> = []
    }

    /// The process id.
    package let pid: Int32
    private let process: Process
    private let state: Shared

    private final class Shared: Sendable {
        let state = Mutex(State())
    }

    /// The directory of the executables: SwiftPM places them next to the tests.
    private static let directory: URL = {
        #if os(Linux)
            URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        #else
            Bundle(for: Program.self).bundleURL.deletingLastPathComponent()
        #endif
    }()

    /// Returns the path of an executable of this package.
    package static func path(of name: String) -> String { directory.appendingPathComponent(name).path }

    /// Starts an executable of this package, or any program if its name contains a slash.
    ///
    /// Standard input is empty; both outputs are collected as lines.
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
        // On Linux, Foundation never frees a process or its pipe.
        try? handle.close()
        shared.state.withLock { $0.isReadOut = true }
    }

    /// The lines of both outputs so far.
    package var lines: [String] { state.state.withLock(\.lines) }
    /// The exit status, or 128 plus the number of the signal that ended the process; `nil` while it runs.
    package var status: Int32? { state.state.withLock(\.status) }
    /// Whether the process is running.
    package var isRunning: Bool { status == nil }

    /// The signals that ``signal(_:)`` has sent.
    package var signals: Set<Int32> { state.state.withLock(\.signals) }

    /// Sends the process a signal, unless it has ended.
    package func signal(_ number: Int32) {
        guard isRunning else { return }
        // Record the signal first, so that the reason is known when the end is seen.
        state.state.withLock { _ = $0.signals.insert(number) }
        send(number, toChild: pid)
    }

    /// Kills the process and all its descendants.
    package func killTree() async throws {
        // A stopped process cannot start further children meanwhile.
        signal(SIGSTOP)
        for child in ProcessTree.descendants(of: pid) { _ = kill(child, SIGKILL) }
        signal(SIGKILL)
        try await eventually("killed process is gone") { !self.isRunning }
    }

    /// Waits until the process has exited and returns its status.
    package func end(within limit: Duration = .seconds(120)) async throws -> Int32 {
        try await eventually("the end of process \(pid); it wrote \(lines.suffix(5))", within: limit) {
            !self.isRunning
        }
        // The last output may still be in the pipe; a child of the process may hold that open for any time.
        try? await eventually("its output is read", within: .seconds(2)) { self.state.state.withLock(\.isReadOut) }
        return status ?? -1
    }
}
