import Foundation
import Synchronization
import TestSupport
import Testing

/// A running `errand demo`.
final class DemoProcess: Sendable {
    private struct Texts: Sendable {
        var output = ""
        var error = ""
    }

    private let process = Process()
    private let texts = Mutex(Texts())
    private let reading = DispatchGroup()

    /// Starts it with its own directory for temporary files.
    init(_ arguments: [String], in place: DemoPlace, path: String? = nil) throws {
        process.executableURL = Self.executable
        process.arguments = ["demo"] + arguments
        var environment = ProcessInfo.processInfo.environment
        environment["TMPDIR"] = place.temporary
        environment["PATH"] = path ?? environment["PATH"]
        process.environment = environment
        let (output, error) = (Pipe.forOneChild(), Pipe.forOneChild())
        process.standardOutput = output
        process.standardError = error
        try process.start()
        read(output) { [self] text in texts.withLock { $0.output += text } }
        read(error) { [self] text in texts.withLock { $0.error += text } }
    }

    var standardOutput: String { texts.withLock { $0.output } }
    var standardError: String { texts.withLock { $0.error } }

    func signal(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Waits for a text on standard error; `false` if the demo ends without it.
    func awaitStandardError(_ text: String) -> Bool {
        while !standardError.contains(text) {
            guard process.isRunning else { return standardError.contains(text) }
            Thread.sleep(forTimeInterval: 0.002)
        }
        return true
    }

    /// Waits for its end and that of everything it started, and returns its exit status.
    @discardableResult
    func awaitEnd() -> Int32 {
        process.waitUntilExit()
        reading.wait()
        return process.terminationStatus
    }

    private func read(_ pipe: Pipe, _ take: @escaping @Sendable (String) -> Void) {
        let file = pipe.fileHandleForReading
        reading.enter()
        let thread = Thread { [reading] in
            while true {
                let data = file.availableData
                if data.isEmpty { break }
                take(String(decoding: data, as: UTF8.self))
            }
            reading.leave()
        }
        thread.start()
    }

    /// The directory of the test's own executable or bundle.
    private static var executable: URL {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
        let tests = bundle ?? URL(fileURLWithPath: Bundle.main.executablePath ?? CommandLine.arguments[0])
        return tests.deletingLastPathComponent().appendingPathComponent("errand")
    }
}
