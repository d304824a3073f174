import Errand
import ErrandDashboard
import ErrandRedis
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The page of a queue's groups and rules.
@Suite struct DashboardFlowTests {
    private static let rule = [("pattern", "tenant-*"), ("at_once", "4"), ("rate", "100/1s"), ("burst", "20")]
    private static let link = #"<a class="button" href="/errand/queues/images/groups">"#

    private func push(_ group: String, _ count: Int = 1, to scene: DashboardScene) async throws {
        let line = #"{"operation":"work","queue":"images","group":"\#(group)"}"#
        try await scene.push(Array(repeating: line, count: count).joined(separator: "\n"))
    }

    private func rules(_ scene: DashboardScene) async throws -> [FlowPattern] {
        try await scene.desk.broker.flow(of: "images")
    }

    @Test func `groups are listed by their waiting jobs, with what holds them back`() async throws {
        let scene = try await DashboardScene()
        try await scene.desk.broker.setFlow("images", matching: "full", FlowRule(atOnce: 1))
        try await scene.desk.broker.setFlow("images", matching: "api", FlowRule(rate: FlowRate(1, per: .seconds(3600))))
        try await push("full", 4, to: scene)
        try await push("api", 2, to: scene)
        try await push("tenant-7/user-3", 1, to: scene)
        #expect(try await scene.desk.claim(from: "images").count == 3)
        try await push("tenant-7/user-3", 2, to: scene)
        let page = try await scene.ask("/queues/images/groups").text
        let names = page.matches(of: /groups\?group=[^"]*">([^<]*)</).map { String($0.1) }
        #expect(names == ["full", "tenant-7/user-3", "api"], "\(page)")
        #expect(page.contains("full: 1 of 1") && page.contains("at its rate: next start in "), "\(page)")
        #expect(!page.contains("rests until") && !page.contains("Only the 20 groups") && !page.contains("{{"))
        let one = try await scene.ask("/queues/images/groups?group=tenant-7%2Fuser-3").text
        #expect(one.contains(">tenant-7</a>") && one.contains(">tenant-7/user-3</a>") && !one.contains(">full</a>"))
        #expect(try await scene.ask("/queues/images/groups?group=a%20b").status == 404)
        #expect(try await scene.ask("/queues/none/groups").status == 404)
    }

    @Test func `a group that a handler lets rest says until when`() async throws {
        let scene = try await DashboardScene()
        try await push("api", to: scene)
        let claim = try #require(try await scene.desk.claim(1, from: "images").first)
        try await scene.desk.report(claim, .groupRests, retryDelay: 3_600_000, queue: "images")
        let page = try await scene.ask("/queues/images/groups").text
        #expect(page.contains("rests until <time datetime="), "\(page)")
    }

    @Test func `only a queue with groups or rules has a link to them`() async throws {
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work","queue":"images"}"#)
        #expect(try await !scene.ask("/queues/images").text.contains(Self.link))
        try await push("a", to: scene)
        #expect(try await scene.ask("/queues/images").text.contains(Self.link))
        try await scene.desk.broker.setFlow("files", matching: "", FlowRule(atOnce: 5))
        #expect(try await scene.ask("/queues/files").text.contains("/queues/files/groups"))
        let page = try await scene.ask("/queues/files/groups").text
        #expect(page.contains(#"<th scope="row">whole queue</th>"#), "\(page)")
    }

    @Test func `a rule is set, listed and deleted, and the log has it`() async throws {
        let scene = try await DashboardScene()
        let set = try await scene.ask("/queues/images/rules/save", Self.rule)
        #expect(set.status == 303 && set.headers[.location]?.hasPrefix("/errand/queues/images/groups?notice=") == true)
        let expected = FlowRule(atOnce: 4, rate: .perSecond(100, burst: 20))
        #expect(try await rules(scene).map(\.rule) == [expected])
        let page = try await scene.ask("/queues/images/groups").text
        #expect(page.contains(#"<th scope="row">tenant-*</th>"#) && page.contains(">100/1s</td>"), "\(page)")
        #expect(page.contains(#"action="/errand/queues/images/rules/delete""#))
        let read = try await scene.ask("/queues/images/groups", as: .reading(as: "Bo")).text
        #expect(read.contains("tenant-*") && !read.contains("/rules/"))
        #expect(try await scene.ask("/queues/images/rules/delete", [("pattern", "tenant-*")]).status == 303)
        #expect(try await rules(scene).isEmpty)
        #expect(try await scene.ask("/queues/images/rules/delete", [("pattern", "tenant-*")]).status == 404)
        let outcome = "outcome=4 at once, 100/1s, burst 20"
        let kept = scene.log.lines
        #expect(kept.contains { $0.contains("action=set rule") && $0.contains(outcome) && $0.contains("user=Ada") })
        #expect(kept.contains { $0.contains("action=delete rule") && $0.contains("target=groups tenant-* of images") })
    }

    @Test(arguments: [
        ("pattern", "a/b/c"), ("pattern", "a b"), ("at_once", "many"), ("at_once", "0"), ("rate", "often"),
        ("rate", "0/1s"), ("burst", "x"), ("weight", "5000"), ("rate", ""),
    ]) func `a rule that is not valid is a message, and what was typed stays`(_ field: (String, String)) async throws {
        let scene = try await DashboardScene()
        let form = Self.rule.filter { $0.0 != field.0 } + [field]
        let answer = try await scene.ask("/queues/images/rules/save", form)
        #expect(answer.status == 400, "\(answer.text)")
        #expect(answer.text.contains(#"<p class="notice bad" role="status">"#) && !answer.text.contains("data-live"))
        #expect(field.0 == "burst" || answer.text.contains(#"name="burst" value="20""#))
        #expect(try await rules(scene).isEmpty)
        #expect(scene.log.lines.contains { $0.contains("action=refused") })
    }

    @Test func `the whole queue is named by an empty pattern, never by a missing one`() async throws {
        let scene = try await DashboardScene()
        let whole = [("pattern", ""), ("at_once", "50")]
        let heavy = try await scene.ask("/queues/images/rules/save", whole + [("weight", "2")])
        #expect(heavy.status == 400 && heavy.text.contains("a rule for the whole queue cannot have a weight"))
        #expect(try await scene.ask("/queues/images/rules/save", whole).status == 303)
        #expect(try await scene.ask("/queues/images/rules/delete", []).status == 400)
        #expect(try await rules(scene) == [FlowPattern(pattern: "", rule: FlowRule(atOnce: 50))])
        #expect(try await scene.ask("/queues/none/rules/save", whole).status == 404)
        #expect(try await !scene.desk.broker.hasQueue("none"))
    }

    @Test func `a pattern that is too similar to another one is a message`() async throws {
        let scene = try await DashboardScene()
        try await scene.desk.broker.setFlow("images", matching: "a*b", FlowRule(atOnce: 1))
        let answer = try await scene.ask("/queues/images/rules/save", [("pattern", "a*c"), ("at_once", "1")])
        #expect(answer.status == 400 && answer.text.contains("unclear which rule applies"), "\(answer.text)")
    }

    @Test func `a pattern that no rule can have is shown as text`() async throws {
        let scene = try await DashboardScene()
        try scene.server.run("HSET", "errand:{images}:flow", "\"><b>", "at_once=1")
        let page = try await scene.ask("/queues/images/groups").text
        #expect(page.contains("&quot;&gt;&lt;b&gt;") && !page.contains("<b>"), "\(page)")
    }

    @Test func `a job shows its group, on its page and in lists`() async throws {
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work","queue":"images","id":"one","group":"tenant-7/user-3","cost":5}"#)
        let job = try await scene.ask("/queues/images/jobs/one").text
        #expect(job.contains("<dt>Group</dt><dd>tenant-7/user-3</dd>"), "\(job)")
        let place = "/errand/queues/images/groups?group=tenant-7%2Fuser-3"
        #expect(try await scene.askOn("/jobs").contains(#"group <a href="\#(place)">tenant-7/user-3</a>"#))
    }
}
