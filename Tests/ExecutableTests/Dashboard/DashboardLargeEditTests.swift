import Errand
import ErrandDashboard
import ErrandOperator
import ErrandRedis
import Foundation
import TestSupport
import Testing

/// Edits of jobs with the largest permitted size.
@Suite struct DashboardLargeEditTests {
    private static let job = "/queues/images/jobs/j0"

    private func dead(_ arguments: String) async throws -> DashboardScene {
        let scene = try await DashboardScene()
        let json = #"{"operation":"work","id":"j0","queue":"images","arguments":\#(arguments)}"#
        _ = try await scene.desk.broker.push([try OperationDescription(json: json).makeEnvelope()], to: "images")
        try await scene.desk.work(.failed, error: "odd", queue: "images")
        return scene
    }

    /// The text in the form.
    private func form(_ scene: DashboardScene) async throws -> String {
        let page = try await scene.ask(Self.job + "?arguments=show").text
        let area = try #require(page.range(of: "<textarea"))
        let start = try #require(page.range(of: ">\n", range: area.upperBound..<page.endIndex))
        let end = try #require(page.range(of: "</textarea>", range: start.upperBound..<page.endIndex))
        return page[start.upperBound..<end.lowerBound].replacingOccurrences(of: "&quot;", with: "\"")
    }

    private func ready(_ scene: DashboardScene) async throws -> JobSummary {
        let page = try await scene.desk.broker.jobs(in: .ready, on: "images", from: 0, count: 10)
        return JobSummary(try #require(page.jobs.first), in: "images")
    }

    @Test func aLargeJobIsEditedAsOneLine() async throws {
        // Three bytes in a form for each of these.
        let text = String(repeating: "*", count: 900_000)
        let scene = try await dead(#"{"list":[1,2],"text":"\#(text)"}"#)
        let description = try await form(scene)
        #expect(description.contains(#""list":[1,2]"#) && !description.contains("\n"))
        let edited = description.replacingOccurrences(of: "[1,2]", with: "[3]")
        let answer = try await scene.ask(Self.job + "/edit", [("description", edited)])
        #expect(answer.status == 303, "\(answer.text.prefix(2000))")
        let arguments = try #require(try await ready(scene).stored?.description.arguments)
        #expect(String(decoding: arguments.bytes, as: UTF8.self) == #"{"list":[3],"text":"\#(text)"}"#)
    }

    @Test func whiteSpaceAloneMakesNoJobTooLarge() async throws {
        let deep = String(repeating: "[", count: 50) + "1" + String(repeating: ",1", count: 9_999)
        let scene = try await dead(#"{"deep":\#(deep + String(repeating: "]", count: 50))}"#)
        let description = try await form(scene)
        #expect(!description.contains("\n"))
        #expect(try await scene.ask(Self.job + "/edit", [("description", description)]).status == 303)
    }

    @Test func `tabs and carriage returns between the tokens of a large job stay white space`() async throws {
        let text = String(repeating: "*", count: 200_000)
        let scene = try await dead("{\t\"list\":\r\n[1,\t2],\"text\":\"\(text)\"}")
        let description = try await form(scene)
        let edited = description.replacingOccurrences(of: "[1,", with: "[3,")
        #expect(edited != description)
        #expect(try await scene.ask(Self.job + "/edit", [("description", edited)]).status == 303)
        let arguments = try #require(try await ready(scene).stored?.description.arguments)
        #expect(String(decoding: arguments.bytes.prefix(30), as: UTF8.self).contains("[3,"))
    }

    @Test func aSmallJobIsEditedOverLines() async throws {
        let scene = try await dead(#"{"list":[1,2]}"#)
        #expect(try await form(scene).contains("\"list\": [\n"))
    }

    @Test func formsHaveTheirLimits() async throws {
        let scene = try await dead("{}")
        let (large, larger) = (String(repeating: "a", count: 3 << 20), String(repeating: "a", count: 9 << 20))
        // It is parsed, and is not a description.
        #expect(try await scene.ask(Self.job + "/edit", [("description", large)]).status == 400)
        #expect(try await scene.ask(Self.job + "/edit", [("description", larger)]).status == 413)
        #expect(try await scene.ask("/jobs/act", [("action", "delete"), ("job", large)]).status == 413)
    }
}
