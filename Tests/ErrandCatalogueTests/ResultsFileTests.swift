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

    @Test func `what killed workers have left is removed, and nothing else`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "results-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        // Opening it would wait for a writer.
        #expect(mkfifo(directory.appending(path: "errand-results-pipe").path, 0o600) == 0)
        let names = ["errand-results-left", "errand-results-held", "errand-results-new", "other"]
        for name in names {
            try Data("{}".utf8).write(to: directory.appending(path: name))
            guard name != "errand-results-new" else { continue }
            let path = directory.appending(path: name).path
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -90)],
                ofItemAtPath: path
            )
        }
        let holder = open(directory.appending(path: "errand-results-held").path, O_RDONLY)
        defer { close(holder) }
        #expect(flock(holder, LOCK_EX | LOCK_NB) == 0)
        ResultsFile.removeLeftovers(in: directory)
        let left = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        #expect(left == ["errand-results-held", "errand-results-new", "errand-results-pipe", "other"])
    }

    @Test func `a command finds its workflow in its environment`() throws {
        var job = JobFacts(id: "1", operation: "show")
        #expect(try ChildCommand([], job: job).environment["ERRAND_WORKFLOW"] == nil)
        job.workflow = WorkflowMembership(id: try #require(WorkflowID("mail:4fJ0aQ9bX2cD7eHk")), key: "on_success")
        let environment = try ChildCommand([], job: job).environment
        #expect(environment["ERRAND_WORKFLOW"] == "mail:4fJ0aQ9bX2cD7eHk")
        #expect(environment["ERRAND_WORKFLOW_KEY"] == "on_success")
    }

    @Test func `a command finds the file in its environment`() throws {
        var job = JobFacts(id: "1", operation: "show")
        #expect(try ChildCommand([], job: job).environment["ERRAND_RESULTS"] == nil)
        job.results = "/tmp/results.json"
        #expect(try ChildCommand([], job: job).environment["ERRAND_RESULTS"] == "/tmp/results.json")
    }
}
