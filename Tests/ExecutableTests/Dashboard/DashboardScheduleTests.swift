import Errand
import ErrandDashboard
import ErrandRedis
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The page of schedules, and the form that creates and changes them.
@Suite struct DashboardScheduleTests {
    private static let form = [
        ("name", "nightly"), ("queue", "images"), ("cron", "0 3 * * *"), ("zone", "Europe/Berlin"),
        ("catch_up", "all"), ("limit", "5"), ("overlap", "skip"),
        ("job", #"{"operation":"work","arguments":{"a":1},"retries":2,"meta":{"team":"x"}}"#),
    ]

    private func schedule(_ scene: DashboardScene) async throws -> Schedule? {
        try await scene.desk.broker.schedule("nightly", on: "images")?.schedule
    }

    @Test func `a schedule is created, listed in words, and changed`() async throws {
        let scene = try await DashboardScene()
        #expect(try await scene.ask("/schedules/save", Self.form).status == 303)
        let stored = try #require(try await schedule(scene))
        #expect(stored.timing.description == "0 3 * * * (Europe/Berlin)" && stored.overlap == .skip)
        #expect(stored.catchUp == .all(limit: 5) && stored.template.meta == ["team": "x"])
        let list = try await scene.ask("/schedules").text
        #expect(list.contains("at 03:00 every day (Europe/Berlin)") && list.contains("by hand"))
        #expect(list.firstMatch(of: /<ol class="ticks">(<li><time [^\n]*?<\/time><\/li>){5}<\/ol>/) != nil, "\(list)")

        let page = try await scene.ask("/schedules/edit?queue=images&name=nightly").text
        #expect(page.contains(#"name="cron" value="0 3 * * *""#) && page.contains("&quot;team&quot;"))
        let changed = Self.form.filter { !["cron", "zone"].contains($0.0) } + [("every", "10m"), ("old", "nightly")]
        #expect(try await scene.ask("/schedules/save", changed).status == 303)
        #expect(try await schedule(scene)?.timing == .every(.seconds(600)))
        #expect(scene.log.lines.contains { $0.contains("action=save schedule") && $0.contains("outcome=changed") })
    }

    @Test func `the list shows the state of the last tick's job`() async throws {
        let scene = try await DashboardScene()
        #expect(try await scene.ask("/schedules/save", Self.form).status == 303)
        let id = try #require(try await schedule(scene)).id(ofTick: 1_700_000_000_000)
        try scene.server.run("HSET", "errand:{images}:ticks", "nightly", "1700000000000:1:0")
        #expect(try await !scene.ask("/schedules").text.contains(id), "the broker does not have it")
        try await scene.push(#"{"operation":"work","id":"\#(id)","queue":"images","retries":0}"#)
        try await scene.desk.work(.failed, error: "out of \"ink\"", queue: "images")
        let link =
            #"<a class="tag dead" href="/errand/queues/images/jobs/\#(id)" title="out of &quot;ink&quot;">dead</a>"#
        let page = try await scene.ask("/schedules").text
        #expect(page.contains(link), "\(page)")
    }

    @Test func `a schedule with an anchor keeps it if its timing is not changed`() async throws {
        let scene = try await DashboardScene()
        let timing = try ScheduleTiming.every(.seconds(600), anchor: 1234)
        let template = try OperationDescription("work", queue: "images")
        try await scene.desk.broker.put(try Schedule("nightly", timing, pushing: template))
        let form = [
            ("old", "nightly"), ("name", "nightly"), ("queue", "images"), ("every", "10m"),
            ("job", #"{"operation":"work","priority":7}"#),
        ]
        #expect(try await scene.ask("/schedules/save", form).status == 303)
        let stored = try #require(try await schedule(scene))
        #expect(stored.timing == timing && stored.template.priority == 7)
    }

    @Test(arguments: [
        ("name", ""), ("name", "a b"), ("queue", "none"), ("queue", "a/b"), ("cron", "61 * * * *"), ("cron", ""),
        ("zone", "Mars/Base"), ("every", "10m"), ("limit", "x"), ("catch_up", "some"), ("overlap", "maybe"),
        ("job", "{"), ("job", #"{"operation":"work","queue":"files"}"#), ("job", #"{"operation":"work","id":"x"}"#),
    ]) func `a field that is not valid is a message, and what was typed stays`(_ field: (String, String)) async throws {
        let scene = try await DashboardScene()
        let form = Self.form.filter { $0.0 != field.0 } + [field]
        let answer = try await scene.ask("/schedules/save", form)
        #expect(answer.status == 400, "\(answer.text)")
        #expect(answer.text.contains(#"<p class="notice bad" role="status">"#))
        #expect(field.0 == "zone" || answer.text.contains(#"name="zone" value="Europe/Berlin""#))
        #expect(try await schedule(scene) == nil)
    }

    @Test func `a new schedule does not replace one with its name`() async throws {
        let scene = try await DashboardScene()
        #expect(try await scene.ask("/schedules/save", Self.form).status == 303)
        let again = try await scene.ask("/schedules/save", Self.form)
        #expect(again.status == 400 && again.text.contains("already has a schedule nightly"))
        #expect(try await scene.ask("/schedules/edit", as: .reading(as: "Bo")).status == 403)
        #expect(try await scene.ask("/schedules/edit?queue=images&name=other").status == 404)
    }
}
