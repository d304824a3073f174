#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads text files: UTF-8, with or without a byte order mark.
package enum TextFile {
    /// The error for a file that cannot be read, worded to follow the file's name in a sentence.
    package struct Problem: Error, CustomStringConvertible {
        /// The problem with the file, and the remedy.
        package let description: String
        /// Whether the file exceeds the limit.
        package var isTooLarge = false
    }

    /// Reads a whole file.
    ///
    /// - Parameters:
    ///   - path: The path; a pipe is read to its end.
    ///   - limit: The maximum number of bytes.
    ///   - isRegular: Whether it must be a regular file: opening a pipe without a writer would block forever.
    /// - Returns: The bytes, without a byte order mark.
    /// - Throws: ``Problem`` if the file cannot be read, is too large, or is UTF-16.
    package static func read(
        _ path: String,
        atMost limit: Int,
        isRegular: Bool = false
    ) throws(Problem) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | (isRegular ? O_NONBLOCK : 0))
        guard descriptor >= 0 else { throw Problem(description: "cannot be read: \(reason(errno, path))") }
        defer { close(descriptor) }
        if isRegular {
            var facts = stat()
            guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
                let isDirectory = facts.st_mode & S_IFMT == S_IFDIR
                let reason = isDirectory ? FileProblem.words(for: EISDIR) : "it is not a regular file"
                throw Problem(description: "cannot be read: \(reason)")
            }
        }
        return try read(descriptor, atMost: limit)
    }

    /// Reads the rest of an open file, such as standard input.
    package static func read(_ descriptor: Int32, atMost limit: Int) throws(Problem) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while bytes.count <= limit {
            let count = buffer.withUnsafeMutableBytes { systemRead(descriptor, $0) }
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw Problem(description: "cannot be read: \(FileProblem.words(for: errno))") }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        guard bytes.count <= limit else {
            throw Problem(description: "is larger than \(limit >> 20) MiB", isTooLarge: true)
        }
        // UTF-16 has an even number of bytes.
        if bytes.count.isMultiple(of: 2), let objection = TextEncoding.objection(to: bytes) {
            throw Problem(description: objection)
        }
        return TextEncoding.withoutMark(bytes)
    }

    /// Returns why a path cannot be opened; distinguishes a missing file from a symbolic link to one.
    package static func reason(_ code: Int32, _ path: String) -> String {
        var facts = stat()
        guard code == ENOENT else { return FileProblem.words(for: code) }
        return lstat(path, &facts) == 0
            ? "it is a symbolic link to a file that is not there" : "there is no such file"
    }
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}
