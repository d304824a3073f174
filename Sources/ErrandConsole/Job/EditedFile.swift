import ErrandCommandLine
import ErrandText
import Foundation

/// The file that an editor opens, in a directory of its own.
struct EditedFile {
    let path: String
    private let directory: String
    private let original: Data

    /// Writes a text to a new file.
    init(_ text: [UInt8]) throws(CommandFailure) {
        // Arguments may be private, so only this user can access the directory.
        directory = try TemporaryDirectory.make("errand-edit")
        path = "\(directory)/job.json"
        original = Data(text)
        do { try original.write(to: URL(fileURLWithPath: path)) } catch {
            remove()
            throw CommandFailure(
                "cannot write \(path) for the editor: \(FileProblem.words(for: error))",
                ExitStatus.notWritten
            )
        }
    }

    /// Removes the file and its directory.
    func remove() { try? FileManager.default.removeItem(atPath: directory) }

    /// Keeps an edited file, so that the user can correct a mistake; else removes it.
    ///
    /// - Returns: The error, which names the file if it was kept.
    func keepIfEdited(after error: any Error) -> any Error {
        guard isEdited else {
            remove()
            return error
        }
        let failure = CommandFailure(reporting: error) ?? CommandFailure("\(error)", ExitStatus.unsuccessful)
        return CommandFailure(
            "\(failure.message); your text was kept, so continue with --description \(path)",
            failure.status
        )
    }

    private var isEdited: Bool {
        guard let facts = try? FileManager.default.attributesOfItem(atPath: path),
            facts[.type] as? FileAttributeType == .typeRegular, let size = facts[.size] as? Int, size > 0
        else { return false }
        return size != original.count || FileManager.default.contents(atPath: path) != original
    }
}
