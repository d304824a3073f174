import ErrandCommandLine
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The regular files below a directory, sorted by name.
///
/// Symbolic links are not followed, and other file systems are not entered. Unreadable files are counted and left out.
struct SourceFiles: Sendable {
    let directory: String
    private(set) var files: [SourceFile] = []
    private(set) var unreadable = 0
    /// Whether there are more files than the limit.
    private(set) var isCut = false

    /// Returns the default files: the system's documentation, else those below the working directory.
    static func usual(atMost limit: Int) throws -> SourceFiles {
        // Small container images have no documentation, or an empty directory.
        if let documentation = try? SourceFiles(below: "/usr/share/doc", atMost: limit) { return documentation }
        return try SourceFiles(below: FileManager.default.currentDirectoryPath, atMost: limit)
    }

    /// Finds the files below a directory.
    ///
    /// - Throws: ``CommandFailure`` if it is not a directory or has no readable file.
    init(below directory: String, atMost limit: Int) throws {
        let absolute = URL(fileURLWithPath: directory).standardizedFileURL.path
        self.directory = absolute
        var facts = stat()
        // The directory itself may be a symbolic link.
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

    /// Adds a directory's files and returns its subdirectories.
    private mutating func take(_ directory: String, on device: dev_t, atMost limit: Int) -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else {
            unreadable += 1
            return []
        }
        var directories: [String] = []
        for name in names.sorted() {
            let path = directory == "/" ? "/\(name)" : "\(directory)/\(name)"
            var facts = stat()
            // Foundation replaces invalid UTF-8 in names, and no file has the resulting name.
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
