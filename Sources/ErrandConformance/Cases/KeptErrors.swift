import Errand
import Testing

extension ConformanceCase {
    static let keptErrors: [ConformanceCase] = [
        ConformanceCase("the error of every run that did not succeed is kept, the newest first") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a")
            try await stage.failRuns(of: hand, ["first", "second"], .failed)
            try await stage.failRuns(of: hand, ["third"], .timedOut)
            #expect(try await stage.errors(of: "a") == ["timed_out third", "failed second", "failed first"])
            try await hand.report(.failed, try await hand.claimOne(), error: "fourth")
            #expect(try await stage.errors(of: "a").first == "dead fourth")
            #expect(try await stage.errors(of: "a").count == 4)
        },
        ConformanceCase("a snooze keeps no error and forgets none") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a")
            try await stage.failRuns(of: hand, ["first"], .failed)
            try await hand.report(.snoozed, try await hand.claimOne(), retryDelay: 0)
            try await stage.promote(1)
            #expect(try await stage.errors(of: "a") == ["failed first"])
        },
        ConformanceCase("ten errors are kept") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a")
            try await stage.failRuns(of: hand, (1...12).map { "no \($0)" }, .failed)
            let expected = (3...12).reversed().map { "failed no \($0)" }
            #expect(try await stage.errors(of: "a") == expected)
        },
        ConformanceCase("long errors are kept up to 16 KiB, the newest always") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a")
            let long = (0..<6).map { "\($0)" + String(repeating: "x", count: 4000) }
            try await stage.failRuns(of: hand, long, .failed)
            let record = try #require(try await stage.record("a"))
            #expect(record.events.count == 3)
            #expect(record.events.reduce(2) { $0 + $1.count } <= 16384)
            #expect(try await stage.errors(of: "a").first?.hasPrefix("failed 5xxx") == true)
        },
        ConformanceCase("what is kept of an ended job has its errors") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a")
            try await stage.failRuns(of: hand, ["first"], .failed)
            try await hand.report(.finished, try await hand.claimOne(), result: "done\nand done")
            let record = try #require(try await stage.record("a"))
            #expect(record.state == .finished)
            #expect(String(decoding: record.result, as: UTF8.self) == "done\nand done")
            #expect(record.events.map(Stage.kindAndError) == ["finished -", "failed first"])
        },
        ConformanceCase("a dead job that is revived keeps its errors") { stage in
            let hand = try await stage.session()
            try await stage.pushPlain("a")
            try await hand.report(.failed, try await hand.claimOne(), error: "first")
            #expect(try await stage.errors(of: "a") == ["dead first"])
            #expect(try await stage.broker.revive(["a"], on: stage.queue) == [.revived])
            #expect(try await stage.errors(of: "a") == ["dead first"])
            try await hand.report(.failed, try await hand.claimOne(), error: "second")
            #expect(try await stage.errors(of: "a") == ["dead second", "dead first"])
        },
    ]
}

extension Stage {
    /// Runs the job in line once for every error, with another try at once.
    fileprivate func failRuns(of hand: Hand, _ errors: [String], _ verb: OutcomeReport.Verb) async throws {
        for error in errors {
            try await hand.report(verb, try await hand.claimOne(), error: error, retryDelay: 0)
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
