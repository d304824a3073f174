import Errand
import ErrandText
import Foundation

/// The results of the jobs that a workflow's job comes after, in a file that its command reads: `ERRAND_RESULTS`.
enum ResultsFile {
    private static let prefix = "errand-results-"
    private static let directory = FileManager.default.temporaryDirectory
    /// Removes the files that killed workers have left, once in a process.
    private static let sweep: Void = removeLeftovers()

    /// Writes the results to a file that only this user can read, passes its path to a body, and removes the file.
    ///
    /// - Throws: `JobFailure` if the file cannot be written.
    static func holding<Value>(
        _ results: [String: [UInt8]],
        _ body: (String) async -> Value
    ) async throws(JobFailure) -> Value {
        _ = sweep
        let path = directory.appending(path: "\(prefix)\(UUID().uuidString).json").path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw problem(path, FileProblem.words(for: errno)) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        defer {
            unlink(path)
            try? file.close()
        }
        // As long as the descriptor is open, other workers know that the file is in use.
        flock(descriptor, LOCK_EX | LOCK_NB)
        do { try file.write(contentsOf: Data(json(of: results))) } catch {
            throw problem(path, FileProblem.words(for: error))
        }
        return await body(path)
    }

    /// Removes the files that no worker holds. A file that cannot be opened belongs to another user, and stays.
    static func removeLeftovers(in directory: URL = directory) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let path = directory.appending(path: name).path
            let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            if isOld(descriptor), flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
            close(descriptor)
        }
    }

    /// Whether this is a file that no worker has just made: its worker may not hold it yet.
    private static func isOld(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return Double(status.modified.tv_sec) < Date().timeIntervalSince1970 - 60
    }

    private static func problem(_ path: String, _ reason: String) -> JobFailure {
        JobFailure("the results of earlier jobs cannot be written to \(path): \(reason)")
    }

    /// Returns an object of the results by key: a result that is JSON as it is, any other one as a string, in which bytes
    /// that are not UTF-8 are replaced.
    static func json(of results: [String: [UInt8]]) -> [UInt8] {
        var output = Array("{".utf8)
        for (key, result) in results.sorted(by: { $0.key < $1.key }) {
            if output.count > 1 { output.append(UInt8(ascii: ",")) }
            JSONEscaping.append(key, to: &output)
            output.append(UInt8(ascii: ":"))
            if let value = try? JSONText(validating: result) {
                output += value.bytes
            } else {
                JSONEscaping.append(String(decoding: result, as: UTF8.self), to: &output)
            }
        }
        output.append(UInt8(ascii: "}"))
        return output
    }
}

extension stat {
    #if canImport(Darwin)
        fileprivate var modified: timespec { st_mtimespec }
    #else
        fileprivate var modified: timespec { st_mtim }
    #endif
}
