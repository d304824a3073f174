#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file that the demo works on, as it was when it was found.
struct SourceFile: Sendable, Equatable {
    let path: String
    let size: Int
    /// When it was last written, in seconds and nanoseconds.
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

    /// Whether it is gone, cannot be read any more, or was written to since it was found: then no two computations need
    /// to agree.
    var hasChanged: Bool {
        var facts = stat()
        guard lstat(path, &facts) == 0, access(path, R_OK) == 0 else { return true }
        return SourceFile(path, facts) != self
    }
}
