import Foundation
import TestSupport

/// A shell command, run until it ends.
enum Shell {
    /// Runs the command and returns its standard output.
    ///
    /// - Throws: An error with its output if it failed.
    @discardableResult
    static func run(_ command: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        let output = Pipe.forOneChild()
        let errors = Pipe.forOneChild()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.start()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let error = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw TestFailure("`\(command)` failed: \(text)\(error)") }
        return text
    }
}
