import ErrandCommandLine
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The regular files below a directory, in the order of their names.
///
/// Symbolic links are not followed and other file systems not entered; what cannot be read is counted and left out.
struct SourceFiles: Sendable {
    let directory: String
    private(set) var files: [SourceFile] = []
    private(set) var unreadable = 0
    /// Whether there are more than were wanted.
    private(set) var isCut = false

    /// What is worked on when nothing is named: real documentation, else the tree that the demo was started in.
    static func usual(atMost limit: Int) throws -> SourceFiles {
        // Small container images have no documentation, or nothing in its directory.
        if let documentation = try? SourceFiles(below: "/usr/share/doc", atMost: limit) { return documentation }
        return try SourceFiles(below: FileManager.default.currentDirectoryPath, atMost: limit)
    }

    /// Looks for files.
    ///
    /// - Throws: ``CommandFailure`` when it is not a directory, or no file in it can be read.
    init(below directory: String, atMost limit: Int) throws {
        let absolute = URL(fileURLWithPath: directory).standardizedFileURL.path
        self.directory = absolute
        var facts = stat()
        // The directory itself may be a link.
        guard stat(absolute, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR else {
            throw CommandFailure("\(directory) is not a directory: name one with files to work on", ExitStatus.badInput)
        }
        var waiting = [absolute]
        while let next = waiting.popLast(), !isCut {
            waiting += take(next, on: facts.st_dev, atMost: limit).reversed()
        }
        guard !files.isEmpty else {
            throw CommandFailure(
                "there is no file to read below \(directory): name a directory with files",
                ExitStatus.badInput
            )
        }
    }

    /// Takes a directory's files; answers the directories in it.
    private mutating func take(_ directory: String, on device: dev_t, atMost limit: Int) -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else {
            unreadable += 1
            return []
        }
        var directories: [String] = []
        for name in names.sorted() {
            let path = directory == "/" ? "/\(name)" : "\(directory)/\(name)"
            var facts = stat()
            // A name that is not UTF-8 was mended on reading, so there is no such file.
            guard lstat(path, &facts) == 0 else {
                unreadable += 1
                continue
            }
            switch facts.st_mode & S_IFMT {
            case S_IFDIR where facts.st_dev == device: directories.append(path)
            case S_IFREG: take(SourceFile(path, facts), atMost: limit)
            default: break
            }
            if isCut { return [] }
        }
        return directories
    }

    private mutating func take(_ file: SourceFile, atMost limit: Int) {
        guard access(file.path, R_OK) == 0 else { return unreadable += 1 }
        guard files.count < limit else { return isCut = true }
        files.append(file)
    }
}
