import Foundation
import TestSupport
import Testing

/// The fault harness notices what it is there for, and does not try again until nothing is to be seen.
@Suite struct HarnessTests {
    /// What it writes of a scenario.
    private struct Report: Decodable {
        var lost: Int
        var unexpected: Int
        var stuck: Int
        var valid: Bool
        var passed: Bool
        var attempts: Int
        var problems: [String]
        var earlier_problems: [String]
    }

    /// Plays one, and again if the harness thinks that it was only late.
    private func play(_ scenario: String) async throws -> (status: Int32, report: Report) {
        let harness = try Program("errand-faults", ["--only", scenario, "--again", "1", "--json"])
        let status = try await harness.end()
        let line = try #require(harness.lines.first { $0.hasPrefix("{") }, "it wrote \(harness.lines)")
        return (status, try JSONDecoder().decode(Report.self, from: Data(line.utf8)))
    }

    @Test func aJobThatIsGoneIsLostThoughTheScenarioBrokeOff() async throws {
        let (status, report) = try await play("X01")
        #expect(status == 1)
        #expect(report.lost == 1)
        #expect(report.valid)
        #expect(report.attempts == 1)
    }

    @Test func aJobThatIsNowhereInLineIsStuck() async throws {
        let (status, report) = try await play("X02")
        #expect(status == 1)
        #expect(report.stuck > 0)
        #expect(report.attempts == 1)
    }

    @Test func aRunAfterTheEndIsUnexpected() async throws {
        let (status, report) = try await play("X03")
        #expect(status == 1)
        #expect(report.unexpected > 0)
        #expect(report.attempts == 1)
    }

    @Test func aFaultThatDoesNotHappenIsInvalid() async throws {
        let (status, report) = try await play("X04")
        #expect(status == 1)
        #expect(!report.valid)
        #expect(report.attempts == 2)
    }

    @Test func whatWasOnlyLateIsPlayedAgainAndSaysSo() async throws {
        let (status, report) = try await play("X05")
        #expect(status == 0)
        #expect(report.passed)
        #expect(report.attempts == 2)
        #expect(report.earlier_problems.count == 1)
    }

    @Test func aBrokenPromiseIsNotPlayedAgain() async throws {
        let (status, report) = try await play("X06")
        #expect(status == 1)
        #expect(report.attempts == 1)
    }
}
