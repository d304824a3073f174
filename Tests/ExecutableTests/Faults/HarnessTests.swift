import Foundation
import TestSupport
import Testing

/// The fault harness detects problems, and does not hide them by repetition.
@Suite struct HarnessTests {
    /// Its report of a scenario.
    private struct Report: Decodable {
        var lost: Int
        var unexpected: Int
        var duplicates: Int
        var stuck: Int
        var audit: Int
        var valid: Bool
        var passed: Bool
        var attempts: Int
        var problems: [String]
        var earlier_problems: [String]
    }

    /// Runs a scenario, and again if the harness considers it merely late.
    private func play(_ scenario: String) async throws -> (status: Int32, report: Report) {
        let harness = try Program("errand-faults", ["--only", scenario, "--again", "1", "--json"])
        let status = try await harness.end()
        let line = try #require(harness.lines.first { $0.hasPrefix("{") }, "it wrote \(harness.lines)")
        return (status, try JSONDecoder().decode(Report.self, from: Data(line.utf8)))
    }

    @Test func aMissingJobIsLostEvenIfTheScenarioFailed() async throws {
        let (status, report) = try await play("X01")
        #expect(status == 1)
        #expect(report.lost == 1)
        #expect(report.valid)
        #expect(report.attempts == 1)
    }

    @Test func aJobWithoutAPositionIsStuck() async throws {
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

    @Test func aLateResultIsRunAgainAndReported() async throws {
        let (status, report) = try await play("X05")
        #expect(status == 0)
        #expect(report.passed)
        #expect(report.attempts == 2)
        #expect(report.earlier_problems.count == 1)
    }

    @Test func aBrokenPromiseIsNotRunAgain() async throws {
        let (status, report) = try await play("X06")
        #expect(status == 1)
        #expect(report.attempts == 1)
    }

    @Test func aForbiddenSecondRunFails() async throws {
        let report = try await failed("X07", "ran more than once")
        #expect(report.duplicates == 1)
        #expect(report.unexpected == 0)
    }

    @Test func forbiddenConcurrentRunsFail() async throws {
        let report = try await failed("X08", "jobs ran twice at once")
        #expect(report.unexpected == 0)
    }

    @Test func aRunBeforeItsTimeIsUnexpected() async throws {
        let report = try await failed("X09", "ms early")
        #expect(report.unexpected == 1)
    }

    @Test func aRunWithOtherArgumentsIsUnexpected() async throws {
        let report = try await failed("X10", "with other arguments")
        #expect(report.unexpected == 1)
    }

    @Test func whatTheAuditFindsFails() async throws {
        let report = try await failed("X11", "the audit found")
        #expect(report.audit > 0)
        #expect(report.stuck == 0)
    }

    @Test func aTokenThatIsIssuedTwiceFails() async throws {
        let report = try await failed("X12", "given out twice")
        #expect(report.unexpected == 0)
    }

    @Test func whatIsLostAfterTheServerHasLostDataFails() async throws {
        let report = try await failed("X13", "1 lost")
        #expect(report.lost == 1)
    }

    @Test func whatTheServerLostItselfIsOnlyCounted() async throws {
        let (status, report) = try await play("X14")
        #expect(status == 0)
        #expect(report.passed)
        #expect(report.lost == 1)
    }

    @Test func aWorkerThatEndsByItselfFails() async throws {
        let report = try await failed("X15", "ended by itself with status 139")
        #expect(report.lost == 0)
    }

    @Test func graceWithoutAnOutageFails() async throws {
        // A silent session on a busy machine is also granted time, so this depends on time, too.
        let (status, report) = try await play("X16")
        #expect(status == 1)
        #expect(report.problems.contains { $0.contains("grace was granted") })
    }

    @Test func aJobThatEndedUnexpectedlyIsLost() async throws {
        let report = try await failed("X17", "cancelled, and nobody asked for that")
        #expect(report.lost == 1)
    }

    @Test func aMissingResultIsNotRunAgain() async throws {
        _ = try await failed("X18", "never: it goes on")
    }

    /// Runs a scenario that injects its fault and must fail at once, with a problem that contains these words.
    private func failed(_ scenario: String, _ words: String) async throws -> Report {
        let (status, report) = try await play(scenario)
        #expect(status == 1)
        #expect(report.valid)
        #expect(report.attempts == 1)
        let isSaid = report.problems.contains { $0.contains(words) }
        #expect(isSaid, "it found \(report.problems)")
        return report
    }
}
