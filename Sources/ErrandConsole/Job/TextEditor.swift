import ErrandCommandLine
import Foundation

/// The editor of whoever runs the console.
enum TextEditor {
    /// Lets a person edit a text; waits until the editor has ended.
    ///
    /// - Throws: `CommandFailure` when there is no editor, when it fails, and when nothing was changed.
    static func edit(_ text: [UInt8]) async throws -> Data {
        let environment = ProcessInfo.processInfo.environment
        guard
            let editor = [environment["VISUAL"], environment["EDITOR"]].compactMap({ $0 }).first(where: { !$0.isEmpty })
        else {
            throw CommandFailure("set $EDITOR, or give the description with --description FILE", ExitStatus.usage)
        }
        // Nobody else's business: arguments may be private.
        let directory = FileManager.default.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appending(path: "job.json")
        try Data(text).write(to: file)
        try await run(editor, file)
        let edited = try Data(contentsOf: file)
        if edited == Data(text) { throw CommandFailure("nothing was changed", ExitStatus.unsuccessful) }
        return edited
    }

    /// $EDITOR may be a command with options, so a shell reads it; the file is an argument and never part of the script.
    private static func run(_ editor: String, _ file: URL) async throws {
        let script = "exec \(editor) \"$1\""
        let status = try await ForegroundProcess.run(["/bin/sh", "-c", script, "sh", file.path(percentEncoded: false)])
        if status != 0 { throw CommandFailure("the editor ended with status \(status)", ExitStatus.unsuccessful) }
    }
}
