import Errand
import ErrandDashboard
import ErrandRedis
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The dashboard's pages.
@Suite struct DashboardPagesTests {
    @Test(arguments: [
        "", "/", "/jobs", "/workers", "/workflows", "/schedules", "/events", "/actions", "/jobs?state=dead",
    ])
    func everyPageIsThereWithoutJobs(_ path: String) async throws {
        let scene = try await DashboardScene()
        let page = try await scene.ask(path)
        #expect(page.status == 200)
        #expect(page.text.hasPrefix("<!doctype html>"))
        #expect(page.text.contains("</html>"))
        #expect(page.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
        #expect(!page.text.contains("{{"))
    }

    @Test func showsQueuesWorkersAndJobs() async throws {
        let scene = try await DashboardScene()
        try await scene.push(
            #"{"operation":"work","id":"one","queue":"images","name":"cat.jpg"}"#,
            #"{"operation":"work","id":"two","queue":"images"}"#
        )
        try await scene.desk.work(.failed, error: "no such file", queue: "images")
        let overview = try await scene.ask("/").text
        #expect(overview.contains(#"<a href="/errand/queues/images">images</a>"#))
        #expect(overview.contains(#"<a href="/errand/jobs?queue=images&amp;state=dead">1</a>"#))
        #expect(overview.contains("<svg "))
        #expect(try await scene.ask("/workers").text.contains("desk.example"))
        let queue = try await scene.ask("/queues/images").text
        #expect(queue.contains("desk.example") && queue.contains("Queue images"))
        let dead = try await scene.ask("/jobs?state=dead").text
        #expect(dead.contains("cat.jpg") && dead.contains("no such file") && !dead.contains(">two<"))
        let job = try await scene.ask("/queues/images/jobs/one").text
        #expect(job.contains("no such file") && job.contains("cat.jpg") && job.contains("Retry"))
    }

    @Test func reportsActionsOnlyIfTheyWereCarriedOut() async throws {
        let scene = try await DashboardScene()
        #expect(try await !scene.ask("/").text.contains(#"class="notice""#))
        #expect(try await scene.ask("/?notice=It%20is%20%3Cdone%3E.").text.contains(">It is &lt;done&gt;.</p>"))
    }

    @Test func showsArgumentsOnlyWhenAsked() async throws {
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work","id":"one","queue":"images","arguments":{"secret":[1.50,"a<b"]}}"#)
        #expect(try await !scene.ask("/queues/images/jobs/one").text.contains("secret"))
        let shown = try await scene.ask("/queues/images/jobs/one?arguments=show").text
        #expect(shown.contains("{\n  &quot;secret&quot;: [\n    1.50,\n    &quot;a&lt;b&quot;\n  ]\n}"))
    }

    @Test func showsSchedulesInPages() async throws {
        let scene = try await DashboardScene()
        for number in 0..<250 {
            let queue = number < 240 ? "images" : "mail"
            let operation = try OperationDescription("work", queue: queue)
            try await scene.desk.broker.put(try Schedule("s\(number)", .every(.seconds(60)), pushing: operation))
        }
        var (found, pages, path): (Set<String>, Int, String?) = ([], 0, "/schedules")
        while let asked = path {
            let page = try await scene.ask(asked).text
            found.formUnion(page.matches(of: /<b class="title">(s\d+)</).map { String($0.1) })
            pages += 1
            path = page.firstMatch(of: /href="\/errand(\/schedules\?[^"]*)" rel="next"/).map {
                String($0.1).replacing("&amp;", with: "&")
            }
        }
        #expect(found.count == 250)
        #expect((2...4).contains(pages))
        #expect(try await scene.ask("/schedules?queue=images&from=%3Cx").status == 400)
        #expect(try await scene.ask("/schedules?queue=images&from=x").status == 400, "no page has linked to it")
    }

    @Test func filtersAndGoesOn() async throws {
        let scene = try await DashboardScene()
        let lines = (0..<120).map { #"{"operation":"work","id":"j\#($0)","queue":"images","name":"n\#($0 % 2)"}"# }
        try await scene.push(lines.joined(separator: "\n"))
        let first = try await scene.ask("/jobs?queue=images").text
        #expect(first.contains("Shown up to 50 of 120."))
        #expect(first.contains(">j49<") && !first.contains(">j50<"))
        #expect(first.contains(#"href="/errand/jobs?queue=images&amp;from=images%3Aready%3A50""#))
        let second = try await scene.ask("/jobs?queue=images&from=images%3Aready%3A50").text
        #expect(second.contains(">j50<") && second.contains(">j99<") && !second.contains(">j49<"))
        let odd = try await scene.ask("/jobs?name=N1").text
        #expect(odd.contains(">j99<") && !odd.contains(">j98<"))
        #expect(odd.contains("Scanned 101 of 120."))
    }

    @Test(arguments: ["/queues/none", "/queues/a%20b", "/queues/images/jobs/none", "/runs/1", "/nothing", "/assets/x"])
    func reportsWhatIsMissing(_ path: String) async throws {
        #expect(try await DashboardScene().ask(path).status == 404)
    }

    @Test(arguments: ["state=lost", "since=yesterday", "queue=a%20b", "from=x"])
    func reportsErrorsOfAFilter(_ query: String) async throws {
        #expect(try await DashboardScene().ask("/jobs?\(query)").status == 400)
    }

    /// A browser parses scalars and not characters: a quote with an accent is a quote.
    static let hostile = [
        "<script>alert(1)</script>", "\"\u{301} onfocus=alert(1) autofocus x=\"\u{301}",
        "'><img src=x onerror=alert(1)>",
        "{{base}}{{{content}}}", "<\u{338}b>", "&lt;b&gt;",
    ]

    @Test(arguments: hostile)
    func jobDataIsTextAndNeverMarkup(_ text: String) async throws {
        let scene = try await DashboardScene()
        let description = try OperationDescription("work", queue: "images", name: text, id: "one")
        try await scene.push(String(decoding: description.encoded(), as: UTF8.self))
        try await scene.desk.work(.failed, error: text, queue: "images")
        for path in ["/jobs", "/queues/images/jobs/one", "/queues/images/jobs/one?arguments=show"] {
            let page = try await scene.askOn(path)
            let isPlain = Self.escaped(text) == text
            #expect(isPlain || !page.utf8.containsBytes(of: text), "\(path)")
            #expect(page.utf8.containsBytes(of: Self.escaped(text)), "\(path)")
        }
    }

    /// No producer can push such an operation, but a client that writes to Redis can.
    @Test(arguments: hostile)
    func invalidOperationNamesAreShownAsText(_ text: String) async throws {
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work","id":"one","queue":"images"}"#)
        try await scene.desk.work(.failed, error: "odd", queue: "images")
        try scene.server.run("RPUSH", "errand:{images}:unroutable:\(text)", text)
        try scene.server.run("HSET", "errand:{images}:unroutable", text, "1")
        try scene.server.run("HSET", "errand:{images}:body", text, "17952157240001\(text)")
        let event = try JSONEncoder().encode(["event": "failed", "operation": text, "worker": text, "error": text])
        try scene.server.run("HSET", "errand:{images}:errors", "one", String(decoding: event, as: UTF8.self))
        for path in ["/", "/jobs", "/jobs?state=dead", "/queues/images", "/queues/images/jobs/one"] {
            let page = try await scene.ask(path)
            #expect(page.status == 200, "\(path)")
            let isPlain = Self.escaped(text) == text
            #expect(isPlain || !page.text.utf8.containsBytes(of: text), "\(path)")
        }
        #expect(try await scene.ask("/").text.utf8.containsBytes(of: "operation\">\(Self.escaped(text))</td>"))
    }

    private static func escaped(_ text: String) -> String {
        let names: [Unicode.Scalar: String] = ["<": "&lt;", ">": "&gt;", "&": "&amp;", "\"": "&quot;", "'": "&#39;"]
        return text.unicodeScalars.map { names[$0] ?? String($0) }.joined()
    }

    @Test func whatIsTypedIntoTheFilterIsText() async throws {
        let page = try await DashboardScene().ask("/jobs?name=%22%CC%81%20onfocus%3Dalert(1)%20x%3D%22").text
        #expect(page.utf8.containsBytes(of: "value=\"&quot;"))
        let injected = "\"\u{301} onfocus"
        #expect(!page.utf8.containsBytes(of: injected))
    }
}

extension Sequence<UInt8> {
    /// Whether these bytes contain those of a text.
    fileprivate func containsBytes(of text: String) -> Bool {
        let (all, wanted) = (Array(self), Array(text.utf8))
        guard wanted.count <= all.count else { return false }
        return (0...all.count - wanted.count).contains { all[$0..<$0 + wanted.count].elementsEqual(wanted) }
    }
}
