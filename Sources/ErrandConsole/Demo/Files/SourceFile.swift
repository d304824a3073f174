#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file for the demo, with its state when it was found.
struct SourceFile: Sendable, Equatable {
    let path: String
    let size: Int
    /// The time of the last modification, in seconds and nanoseconds.
    let written: [Int]

    init(_ path: String, _ facts: stat) {
        self.path = path
        size = Int(facts.st_size)
        #if canImport(Darwin)
            written = [facts.st_mtimespec.tv_sec, facts.st_mtimespec.tv_nsec]
        #else
            written = [facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec]
        #endif
    }

    /// Whether the file was removed, made unreadable or modified since it was found. Then two checksums may differ.
    var hasChanged: Bool {
        var facts = stat()
        guard lstat(path, &facts) == 0, access(path, R_OK) == 0 else { return true }
        return SourceFile(path, facts) != self
    }
}
