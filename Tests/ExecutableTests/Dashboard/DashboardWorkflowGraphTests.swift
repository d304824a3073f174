import Errand
import Foundation
import TestSupport
import Testing

/// The drawing of a workflow's graph.
@Suite struct DashboardWorkflowGraphTests {
    private struct Place: Hashable {
        let x: Int
        let y: Int
    }

    /// Pushes jobs with these needs, and returns the page of their workflow.
    private func page(_ jobs: [(String, [String])], to scene: DashboardScene) async throws -> String {
        let description = try WorkflowDescription(
            "drawn",
            queue: "images",
            jobs: try jobs.map { key, after in .init(key, try OperationDescription("work"), after: after) }
        )
        let id = try await Producer(broker: scene.desk.broker).push(description).workflow
        return try await scene.ask("/workflows/\(id)").text
    }

    /// The upper left corners of the jobs in the drawing, by their titles' keys.
    private func places(_ page: String) -> [String: Place] {
        let found = page.matches(of: /<title>([^:<]+): [^<]*<\/title><rect x="(\d+)" y="(\d+)"/)
        return Dictionary(
            found.compactMap { match in
                guard let x = Int(match.2), let y = Int(match.3) else { return nil }
                return (String(match.1), Place(x: x, y: y))
            }
        ) { first, _ in first }
    }

    @Test func `a job is below all that it comes after, in the order of the keyboard`() async throws {
        let jobs: [(String, [String])] = [
            ("end", ["far", "top"]), ("far", ["left"]), ("left", ["top"]), ("right", ["top"]), ("top", []),
            ("alone", []),
        ]
        let page = try await page(jobs, to: try await DashboardScene())
        let places = places(page)
        #expect(places.count == jobs.count && Set(places.values).count == jobs.count, "\(places)")
        for (key, after) in jobs {
            for need in after { #expect(places[need]?.y ?? .max < places[key]?.y ?? 0, "\(need) \(key)") }
        }
        #expect(page.matches(of: /data-edge="/).count == 5)
        let tops = page.matches(of: /<rect x="\d+" y="(\d+)"/).compactMap { Int($0.1) }
        #expect(tops == tops.sorted())
        #expect(page.contains(#"class="ready" data-job="#) && page.contains(#">ready</text></a>"#))
    }

    @Test func `wide layers are wrapped, and no job covers another one`() async throws {
        let parts = (0..<498).map { "part-\($0)" }
        let jobs: [(String, [String])] = [("split", [])] + parts.map { ($0, ["split"]) } + [("merge", parts)]
        let page = try await page(jobs, to: try await DashboardScene())
        let places = places(page)
        #expect(Set(places.values).count == 500)
        #expect(places.values.allSatisfy { $0.x <= 1100 })
        #expect(try #require(places["merge"]).y > (parts.compactMap { places[$0]?.y }.max() ?? 0))
        let width = page.firstMatch(of: /<svg width="(\d+)"/).flatMap { Int($0.1) }
        #expect(width ?? 0 < 1240, "fits on a desktop")
        #expect(page.contains("part-0, part-1, part-2, part-3, part-4, part-5, part-6, part-7 and 490 more"))
        #expect(page.contains(#"data-live="5000""#) && !page.contains("There are no jobs"))
    }

    @Test func `long keys are shortened in the drawing only`() async throws {
        let key = "first-" + String(repeating: "k", count: 116) + ".last"
        let page = try await page([(key, [])], to: try await DashboardScene())
        #expect(page.contains("first-kkkk…kkkkk.last</text>") && page.contains("<title>\(key): ready</title>"))
        #expect(page.contains(">\(key)</a></th>"))
    }

    @Test func `a large workflow has no graph, and a table in pages`() async throws {
        let scene = try await DashboardScene()
        let jobs: [(String, [String])] = (0..<1100).map { number in
            ("job-\(number)", number < 600 ? [] : ["job-0", "job-\(number - 1)"])
        }
        let first = try await page(jobs, to: scene)
        #expect(first.contains("The graph is drawn for at most 1,000 jobs; this workflow has 1,100."))
        #expect(!first.contains("class=\"graph\""))
        #expect(first.contains(#"<a class="button" href="?from=500" rel="next">"#))
        #expect(first.contains("Jobs 1 to 500 of 1,100, in the order of the push."))
        let id = try #require(first.firstMatch(of: /<code>(images:\w+)<\/code>/)?.1)
        let second = try await scene.ask("/workflows/\(id)?from=500").text
        #expect(second.contains(">job-500</a>") && second.contains(">job-999</a>") && !second.contains(">job-499</a>"))
        #expect(second.contains("1 job on other pages may be missing here"))
        let last = try await scene.ask("/workflows/\(id)?from=1000").text
        #expect(last.contains("Jobs 1,001 to 1,100 of 1,100") && !last.contains(#"rel="next""#))
    }

    @Test func `a graph with too many edges is not drawn`() async throws {
        let first = (0..<60).map { "a\($0)" }
        let jobs: [(String, [String])] = first.map { ($0, []) } + (0..<60).map { ("b\($0)", first) }
        let page = try await page(jobs, to: try await DashboardScene())
        #expect(page.contains("The graph is drawn with at most 3,000 edges; this one has 3,600."))
        #expect(page.contains(">b59</a></th>"))
    }
}
