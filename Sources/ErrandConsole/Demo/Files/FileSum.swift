import Errand
import ErrandText
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file's SHA-256 and size: the result of a `checksum` job, and the value that the demo computes for comparison.
struct FileSum: Codable, Equatable {
    /// The SHA-256 in lower-case hexadecimal digits.
    let sha256: String
    /// The size in bytes.
    let size: Int

    /// Reads a file in chunks, so that large files need no more memory.
    ///
    /// - Parameter isCancelled: Called before each chunk; `true` ends the computation with `CancellationError`.
    static func compute(of path: String, isCancelled: () -> Bool = { false }) throws -> FileSum {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            throw JobFailure("cannot open \(path): \(String(cString: strerror(errno)))", isFinal: true)
        }
        defer { close(file) }
        var hash = SHA256()
        var size = 0
        var chunk = [UInt8](repeating: 0, count: 128 * 1024)
        while true {
            if isCancelled() { throw CancellationError() }
            let count = chunk.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
            if count == 0 { break }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw JobFailure("cannot read \(path): \(String(cString: strerror(errno)))", isFinal: true)
            }
            hash.update(chunk[..<count])
            size += count
        }
        return FileSum(sha256: hash.finish().hexadecimal, size: size)
    }

    /// The JSON for a job's result.
    var json: [UInt8] { Array(#"{"sha256":"\#(sha256)","size":\#(size)}"#.utf8) }
}
