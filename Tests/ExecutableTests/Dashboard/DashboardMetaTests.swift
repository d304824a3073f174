import Testing

/// The `meta` of a job on its page.
@Suite struct DashboardMetaTests {
    @Test func aJobsPageShowsItAsText() async throws {
        let scene = try await DashboardScene()
        let long = String(repeating: "x", count: 250)
        try await scene.push(
            #"{"operation":"work","id":"one","queue":"images","meta":{"<b>":"<i>'\"","n":7,"long":"\#(long)"}}"#,
            #"{"operation":"work","id":"two","queue":"images"}"#
        )
        let page = try await scene.ask("/queues/images/jobs/one").text
        #expect(page.contains("<dt>Meta</dt><dd>&lt;b&gt;: &lt;i&gt;&#39;&quot;</dd>"))
        #expect(page.contains("<dd>n: 7</dd>"))
        #expect(page.contains("<dd>long: \(long.prefix(200))…</dd>"))
        #expect(try await !scene.ask("/queues/images/jobs/two").text.contains("<dt>Meta</dt>"))
    }

    @Test func ofVeryManyOnlyTheFirstAreShown() async throws {
        let scene = try await DashboardScene()
        let members = (100..<1200).map { #""k\#($0)":"v""# }.joined(separator: ",")
        try await scene.push(#"{"operation":"work","id":"one","queue":"images","meta":{\#(members)}}"#)
        let page = try await scene.ask("/queues/images/jobs/one").text
        #expect(page.contains("<dd>k1000: v</dd>") && !page.contains("k999: v"))
        #expect(page.contains("<dd>…: 1,050 more</dd>"))
    }
}
