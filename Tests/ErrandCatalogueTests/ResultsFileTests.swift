import Errand
import Foundation
import Testing

@testable import ErrandCatalogue

/// The file that a command of a workflow's job reads.
@Suite struct ResultsFileTests {
    @Test func `JSON stays JSON, and other bytes are text`() {
        let results: [String: [UInt8]] = [
            "json": Array(#" {"n":1.0} "#.utf8), "number": Array("42\n".utf8), "text": Array("a \"b\"\n".utf8),
            "empty": [], "bytes": [0x61, 0xFF],
        ]
        let text = String(decoding: ResultsFile.json(of: results), as: UTF8.self)
        #expect(
            text == #"{"bytes":"a\#u{FFFD}","empty":"","json":{"n":1.0},"number":42,"text":"a \"b\"\n"}"#
        )
        #expect(ResultsFile.json(of: [:]) == Array("{}".utf8))
    }

    @Test func `only this user can read the file, and it is removed afterwards`() async throws {
        let (path, contents) = try await ResultsFile.holding(["fetch": Array("1".utf8)]) { path in
            let mode = try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            return (path, FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) })
        }
        #expect(contents == #"{"fetch":1}"#)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a command finds the file in its environment`() throws {
        var job = JobFacts(id: "1", operation: "show")
        #expect(try ChildCommand([], job: job).environment["ERRAND_RESULTS"] == nil)
        job.results = "/tmp/results.json"
        #expect(try ChildCommand([], job: job).environment["ERRAND_RESULTS"] == "/tmp/results.json")
    }
}
