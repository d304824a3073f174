import ErrandCommandLine
import ErrandText
import Foundation

/// The user's text editor.
enum TextEditor {
    /// Lets the user edit a text, waits until the editor has exited, and passes on the result.
    ///
    /// After an error, an edited file is kept, and the error names it.
    ///
    /// - Parameter take: Receives the edited text.
    /// - Throws: The error of `take`, or `CommandFailure` if there is no editor, if it fails or leaves no text, or if
    ///   nothing was changed.
    static func edit(
        _ text: [UInt8],
        atMost limit: Int,
        _ take: (_ edited: [UInt8]) async throws -> Void
    ) async throws {
        let environment = ProcessInfo.processInfo.environment
        guard
            let editor = [environment["VISUAL"], environment["EDITOR"]].compactMap({ $0 }).first(where: { !$0.isEmpty })
        else {
            throw CommandFailure("set $EDITOR, or use --description FILE", ExitStatus.usage)
        }
        let file = try EditedFile(text)
        do {
            try await run(editor, file.path)
            let edited = try result(of: editor, in: file.path, limit)
            if edited == text { throw CommandFailure("nothing was changed", ExitStatus.unsuccessful) }
            try await take(edited)
        } catch {
            throw file.keepIfEdited(after: error)
        }
        file.remove()
    }

    /// Runs the editor. $EDITOR may be a command with options, so a shell parses it; the file is an argument and never
    /// part of the script.
    private static func run(_ editor: String, _ file: String) async throws {
        let script = "exec \(editor) \"$1\""
        let status = try await ForegroundProcess.run(["/bin/sh", "-c", script, "sh", file])
        let what: String
        switch status {
        case 0: return
        case 126, 127: what = "cannot be started (status \(status)): set $VISUAL or $EDITOR to a command that can"
        case 129...: what = "was killed by signal \(status - 128); nothing was changed"
        default: what = "ended with status \(status); nothing was changed"
        }
        throw CommandFailure("the editor \"\(editor)\" \(what)", ExitStatus.unsuccessful)
    }

    private static func result(of editor: String, in file: String, _ limit: Int) throws(CommandFailure) -> [UInt8] {
        do throws(TextFile.Problem) {
            let edited = try TextFile.read(file, atMost: limit, isRegular: true)
            if !edited.isEmpty { return edited }
        } catch {
            throw CommandFailure(
                "what the editor \"\(editor)\" left \(error); nothing was changed",
                ExitStatus.unsuccessful
            )
        }
        throw CommandFailure(
            "the editor \"\(editor)\" left an empty file; nothing was changed",
            ExitStatus.unsuccessful
        )
    }
}
