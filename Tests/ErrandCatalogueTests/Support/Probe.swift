import Foundation
import TestSupport

/// A process that runs children as a worker does, to be killed.
final class Probe {
    private let process = Process()
    private let input = Pipe.forOneChild()
    private let output = Pipe.forOneChild()

    init(environment: [String: String] = [:]) throws {
        process.executableURL = try Self.executable()
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        process.standardInput = input
        process.standardOutput = output
        try process.start()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    var pid: pid_t { process.processIdentifier }

    /// Starts a shell's script as a child.
    func run(_ script: String) {
        input.fileHandleForWriting.write(Data((script + "\n").utf8))
    }

    /// Makes the process exit by itself.
    func exit() {
        try? input.fileHandleForWriting.close()
    }

    /// Kills the process as the system does when memory is short.
    func killHard() {
        kill(pid, SIGKILL)
    }

    /// The reaper of the process.
    func reaper() throws -> pid_t {
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let candidate = pid_t(name),
                let stat = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8)
            else { continue }
            let fields = stat.split(separator: " ")
            if fields[1] == "(errand-reaper)", fields[3] == "\(pid)" { return candidate }
        }
        throw TestError("no reaper")
    }

    private static func executable() throws -> URL {
        let places = CommandLine.arguments + [Bundle.main.executablePath ?? "", Bundle.main.bundlePath]
        for place in places {
            for folder in sequence(first: URL(fileURLWithPath: place), next: { $0.deletingLastPathComponent() }).prefix(
                5
            ) {
                let file = folder.appendingPathComponent("errand-child-probe")
                if FileManager.default.isExecutableFile(atPath: file.path) { return file }
            }
        }
        throw TestError("errand-child-probe was not built; looked beside \(places)")
    }
}
