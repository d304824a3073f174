import Errand
import ErrandText
import Foundation

/// The results of the jobs that a workflow's job comes after, in a file that its command reads: `ERRAND_RESULTS`.
enum ResultsFile {
    /// Writes the results to a file that only this user can read, passes its path to a body, and removes the file.
    ///
    /// - Throws: `JobFailure` if the file cannot be written.
    static func holding<Value>(
        _ results: [String: [UInt8]],
        _ body: (String) async -> Value
    ) async throws(JobFailure) -> Value {
        let path = FileManager.default.temporaryDirectory.appending(path: "errand-results-\(UUID().uuidString).json")
            .path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw problem(path, FileProblem.words(for: errno)) }
        defer { unlink(path) }
        do {
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try file.write(contentsOf: Data(json(of: results)))
            try file.close()
        } catch { throw problem(path, FileProblem.words(for: error)) }
        return await body(path)
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
