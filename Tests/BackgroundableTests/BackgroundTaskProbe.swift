import Foundation
import TestSupport
import Testing

/// A process with background tasks, to be terminated.
final class BackgroundTaskProbe {
    private let process = Process()
    private let input = Pipe.forOneChild()
    private let lines = Box<[String]>([])
    private let ended = Signal()
    private let outputEnded = Signal()

    /// Starts it and waits until it is ready.
    init(_ way: String) throws {
        process.executableURL = try BackgroundTaskProbe.executable()
        process.arguments = [way]
        process.standardInput = input
        let output = Pipe.forOneChild()
        process.standardOutput = output
        process.terminationHandler = { [ended] _ in ended.fire() }
        let ready = Signal()
        read(output.fileHandleForReading, ready)
        try start()
        #expect(ready.wait())
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// What it has printed, except that it is ready.
    var said: [String] {
        lines.now.filter { $0 != "ready" }
    }

    /// The process id of its child.
    var child: pid_t? {
        said.compactMap { $0.hasPrefix("child ") ? pid_t($0.dropFirst(6)) : nil }.first
    }

    func terminate() {
        kill(process.processIdentifier, SIGTERM)
    }

    /// Closes its input, which ends its work.
    func finish() {
        try? input.fileHandleForWriting.close()
    }

    /// Waits until it has printed a line.
    func says(_ line: String) -> Bool {
        let patience = ContinuousClock.now + .seconds(20)
        while !said.contains(line), ContinuousClock.now < patience { Thread.sleep(forTimeInterval: 0.005) }
        return said.contains(line)
    }

    /// Waits until it has ended and returns how: "exit 0", "signal 15".
    func ending(within seconds: TimeInterval = 20) -> String {
        guard ended.wait(seconds: seconds), outputEnded.wait() else { return "none" }
        return "\(process.terminationReason == .uncaughtSignal ? "signal" : "exit") \(process.terminationStatus)"
    }

    /// Starts it with SIGTERM unblocked, because pool threads block it and children inherit that.
    private func start() throws {
        var before = sigset_t()
        var freed = sigset_t()
        sigemptyset(&freed)
        sigaddset(&freed, SIGTERM)
        pthread_sigmask(SIG_UNBLOCK, &freed, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.start()
    }

    /// Reads its output on a thread of its own.
    private func read(_ handle: FileHandle, _ ready: Signal) {
        Thread { [lines, outputEnded] in
            var line = Data()
            while let byte = try? handle.read(upToCount: 1)?.first {
                if byte != UInt8(ascii: "\n") {
                    line.append(byte)
                    continue
                }
                let said = String(decoding: line, as: UTF8.self)
                line = Data()
                lines.change { $0.append(said) }
                if said == "ready" { ready.fire() }
            }
            outputEnded.fire()
        }.start()
    }

    private static func executable() throws -> URL {
        let places = CommandLine.arguments + [Bundle.main.executablePath ?? "", Bundle.main.bundlePath]
        for place in places {
            let folders = sequence(first: URL(fileURLWithPath: place)) { $0.deletingLastPathComponent() }
            for folder in folders.prefix(5) {
                let file = folder.appendingPathComponent("errand-termination-probe")
                if FileManager.default.isExecutableFile(atPath: file.path) { return file }
            }
        }
        throw ProbeMissing(places: places)
    }

    private struct ProbeMissing: Error {
        let places: [String]
    }
}
