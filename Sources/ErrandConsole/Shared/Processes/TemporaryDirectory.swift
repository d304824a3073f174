import ErrandCommandLine
import ErrandText
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A new directory that only this user can access.
enum TemporaryDirectory {
    /// Makes a directory in the default place for temporary files, or in `/tmp` if that path is too long for a socket.
    ///
    /// - Parameter name: The prefix of the directory's name.
    static func make(_ name: String) throws(CommandFailure) -> String {
        let usual = FileManager.default.temporaryDirectory.standardizedFileURL.path
        let parent = usual.utf8.count <= 70 ? usual : "/tmp"
        var template = Array("\(parent)/\(name)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandFailure(
                "cannot make a directory in \(parent): \(FileProblem.words(for: errno)); set TMPDIR to one that can be written to",
                ExitStatus.unavailable
            )
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
