import Errand
import Testing

extension ConformanceCase {
    static let keptErrors: [ConformanceCase] = [
        ConformanceCase("the error of every run that did not succeed is kept, the newest first") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a")
            try await fixture.failRuns(of: session, ["first", "second"], .failed)
            try await fixture.failRuns(of: session, ["third"], .timedOut)
            #expect(try await fixture.errors(of: "a") == ["timed_out third", "failed second", "failed first"])
            try await session.report(.failed, try await session.claimOne(), error: "fourth")
            #expect(try await fixture.errors(of: "a").first == "dead fourth")
            #expect(try await fixture.errors(of: "a").count == 4)
        },
        ConformanceCase("a snooze adds no error and removes none") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a")
            try await fixture.failRuns(of: session, ["first"], .failed)
            try await session.report(.snoozed, try await session.claimOne(), retryDelay: 0)
            try await fixture.promote(1)
            #expect(try await fixture.errors(of: "a") == ["failed first"])
        },
        ConformanceCase("ten errors are kept") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a")
            try await fixture.failRuns(of: session, (1...12).map { "no \($0)" }, .failed)
            let expected = (3...12).reversed().map { "failed no \($0)" }
            #expect(try await fixture.errors(of: "a") == expected)
        },
        ConformanceCase("long errors are kept up to 16 KiB, the newest always") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a")
            let long = (0..<6).map { "\($0)" + String(repeating: "x", count: 4000) }
            try await fixture.failRuns(of: session, long, .failed)
            let record = try #require(try await fixture.record("a"))
            #expect(record.events.count == 3)
            #expect(record.events.reduce(2) { $0 + $1.count } <= 16384)
            #expect(try await fixture.errors(of: "a").first?.hasPrefix("failed 5xxx") == true)
        },
        ConformanceCase("the record of an ended job has its tags") { fixture in
            let session = try await fixture.session()
            try await fixture.push(fixture.job("a", tags: ["customer 17", "é\"\n"]), fixture.job("b"))
            try await session.report(.finished, try await session.claimOne(), result: "done")
            try await fixture.push(fixture.job("c", .replace, delay: 600_000, tags: ["customer 18"]))
            try await fixture.push(fixture.job("d", .replace, delay: 600_000, tags: ["customer 19"]))
            #expect(try await fixture.cancel("d") == .cancelled)
            #expect(try await fixture.cancel("b") == .cancelled)
            #expect(try await fixture.tags(of: "a") == ["customer 17", "é\"\n"])
            #expect(try await fixture.tags(of: "c") == ["customer 18"], "it was replaced")
            #expect(try await fixture.tags(of: "d") == ["customer 19"])
            #expect(try await fixture.tags(of: "b") == nil)
        },
        ConformanceCase("the record of an ended job has its errors") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a")
            try await fixture.failRuns(of: session, ["first"], .failed)
            try await session.report(.finished, try await session.claimOne(), result: "done\nand done")
            let record = try #require(try await fixture.record("a"))
            #expect(record.state == .finished)
            #expect(String(decoding: record.result, as: UTF8.self) == "done\nand done")
            #expect(record.events.map(Fixture.kindAndError) == ["finished -", "failed first"])
        },
        ConformanceCase("a dead job that is retried keeps its errors") { fixture in
            let session = try await fixture.session()
            try await fixture.pushPlain("a")
            try await session.report(.failed, try await session.claimOne(), error: "first")
            #expect(try await fixture.errors(of: "a") == ["dead first"])
            #expect(try await fixture.broker.retry(["a"], on: fixture.queue) == [.retried])
            #expect(try await fixture.errors(of: "a") == ["dead first"])
            try await session.report(.failed, try await session.claimOne(), error: "second")
            #expect(try await fixture.errors(of: "a") == ["dead second", "dead first"])
        },
    ]
}

extension Fixture {
    /// Returns the tags in the record of an ended job.
    fileprivate func tags(of id: String) async throws -> [String]? {
        let record = try #require(try await record(id))
        #expect(record.body.isEmpty, "it has ended")
        return try #require(JobEvent(line: record.lastEvent)).tags
    }

    /// Runs the ready job once for each error, with a retry at once.
    fileprivate func failRuns(of session: TestSession, _ errors: [String], _ verb: OutcomeReport.Verb) async throws {
        for error in errors {
            try await session.report(verb, try await session.claimOne(), error: error, retryDelay: 0)
            try await promote(1)
        }
    }

    fileprivate func errors(of id: String) async throws -> [String] {
        try await record(id)?.events.map(Self.kindAndError) ?? []
    }

    fileprivate static func kindAndError(_ line: [UInt8]) -> String {
        let text = String(decoding: line, as: UTF8.self)
        let kind = text.firstMatch(of: /"event":"(\w+)"/)?.output.1
        let error = text.firstMatch(of: /"error":"([^"]*)"/)?.output.1
        return "\(kind ?? "?") \(error ?? "-")"
    }
}
