import Foundation
import Testing

@testable import Errand

/// Workflows that are made of typed jobs.
@Suite struct WorkflowBuilderTests {
    private struct Fetch: JobParameters {
        static let jobName = "fetch"
        static let jobDefaults = JobDefaults(queue: "net")
        let url: String
    }

    private struct Parse: JobParameters {
        static let jobName = "parse"
    }

    @Test func `jobs have their operation's name as key, and further ones a number`() throws {
        let flow = Workflow("w") { flow in
            let first = flow.add(Fetch(url: "a"))
            let second = flow.add(Fetch(url: "b"), after: first)
            flow.add(Fetch(url: "c"), key: "fetch-3")
            flow.add(Fetch(url: "d"))
            flow.add(Parse(), after: first, second, when: .anyEnd)
        }
        let described = try flow.describe(at: Date())
        #expect(described.jobs.map(\.key) == ["fetch", "fetch-2", "fetch-3", "fetch-4", "parse"])
        #expect(described.jobs.map(\.after) == [[], ["fetch"], [], [], ["fetch", "fetch-2"]])
        #expect(described.jobs.map(\.when) == [.success, .success, .success, .success, .anyEnd])
        #expect(described.queue == "net")
    }

    @Test func `sections have keys of their own and follow others as a whole`() throws {
        let flow = Workflow("w") { flow in
            let first = flow.add(Parse(), key: "first")
            let last = flow.section("a", after: [first], when: .anyEnd) { section in
                let page = section.add(Fetch(url: "a"), key: "page")
                section.add(Parse(), after: page)
                section.section("b", after: [page]) { $0.add(Parse()) }
            }
            let empty = flow.section("c", after: last) { _ in }
            flow.add(Parse(), after: empty)
        }
        let described = try flow.describe(at: Date())
        #expect(described.jobs.map(\.key) == ["first", "a:page", "a:parse", "a:b:parse", "parse"])
        #expect(described.jobs.map(\.after) == [[], ["first"], ["a:page"], ["a:page"], ["a:parse", "a:b:parse"]])
        #expect(described.jobs.map(\.when) == [.success, .anyEnd, .success, .success, .success])
    }

    @Test func `options, policies and callbacks are kept`() throws {
        let flow = Workflow("w", queue: "home", unique: .replace, onDead: .ignore) { flow in
            flow.add(Fetch(url: "a"), options: PushOptions(queue: "fast", priority: 9))
        }
        flow.onSuccess(Parse())
        flow.onFailure(Parse(), options: PushOptions(priority: 1))
        let described = try flow.describe(at: Date())
        #expect(described.queue == "home")
        #expect(described.uniquenessPolicy == .replace)
        #expect(described.onDead == .ignore)
        #expect(described.jobs.first?.description.queue == "fast")
        #expect(described.jobs.first?.description.priority == 9)
        #expect(described.onSuccess?.operation == "parse")
        #expect(described.onFailure?.priority == 1)
    }

    @Test func `the same value makes the same ids`() throws {
        let flow = Workflow("w") { $0.add(Parse()) }
        let plans = try (0..<2).map { _ in try flow.describe(at: Date()).makePlan(token: flow.token) }
        #expect(plans[0].ids == plans[1].ids)
        #expect(Workflow("w") { $0.add(Parse()) }.token != flow.token)
    }

    @Test func `a delay counts from the time of the push`() throws {
        let flow = Workflow("w") { $0.add(Parse(), options: PushOptions(delay: .seconds(5))) }
        #expect(flow.hasDelay)
        let described = try flow.describe(at: Date(timeIntervalSince1970: 1_795_215_724))
        #expect(described.jobs.first?.description.notBefore == 1_795_215_729_000)
    }

    @Test func `a job of another workflow is refused`() throws {
        let node = Workflow.node
        let flow = Workflow("w") { $0.add(Parse(), after: node) }
        let error = #expect(throws: WorkflowError.self) { try flow.describe(at: Date()) }
        #expect(error?.path == "jobs.parse.after[0]")
    }

    @Test func `an id, a bad option, a key that is taken and an empty workflow are refused`() throws {
        let flows: [(Workflow, String)] = [
            (Workflow("w") { $0.add(Parse(), options: PushOptions(id: "x")) }, "jobs.parse.id"),
            (Workflow("w") { $0.add(Parse(), options: PushOptions(priority: 10)) }, "jobs.parse.priority"),
            (Workflow("w") { flow in for _ in 0..<2 { flow.add(Parse(), key: "k") } }, "jobs.k"),
            (Workflow("w") { _ in }, "jobs"),
            (Workflow("w", unique: .debounce) { $0.add(Parse()) }, "unique"),
        ]
        for (flow, path) in flows {
            let error = #expect(throws: WorkflowError.self) { try flow.describe(at: Date()) }
            #expect(error?.path == path)
        }
    }

    // MARK: Added jobs

    @Test func `jobs that a running job adds have the same ids in every attempt`() async throws {
        let first = try await added { flow in
            let fetched = flow.add(Fetch(url: "a"))
            flow.add(Parse(), after: fetched, flow.job("old"))
        }
        let second = try await added { flow in
            let fetched = flow.add(Fetch(url: "a"))
            flow.add(Parse(), after: fetched, flow.job("old"))
        }
        #expect(first.ids == second.ids)
        #expect(Set(first.ids.keys) == ["fetch", "parse"])
        #expect(first.ids.values.allSatisfy { QueueName.isValid(jobID: $0) })
        let portion = try #require(first.portion(from: 0, []))
        #expect(portion.map(\.number) == [0, 1])
        #expect(
            portion.last?.needs == [
                WorkflowNeed(number: 0, isAdded: true, condition: .success),
                WorkflowNeed(number: 1, condition: .success),
            ]
        )
        #expect(first.portion(from: 2, [7, 8]) == nil)
    }

    @Test func `a later call names the numbers that earlier ones got`() async throws {
        let jobs = try await added { flow in
            let nodes = (0..<150).map { flow.add(Fetch(url: "\($0)")) }
            flow.add(Parse(), after: nodes[149])
        }
        #expect(jobs.portion(from: 0, [])?.count == 150)
        let later = jobs.portion(from: 150, Array(50..<200))
        #expect(later?.map(\.number) == [0])
        #expect(later?.first?.needs == [WorkflowNeed(number: 199, condition: .success)])
    }

    @Test func `an added job may come after 999 others`() async throws {
        await #expect(throws: WorkflowError.self) {
            try await added { flow in
                flow.add(Parse(), after: (0..<1000).map { flow.add(Fetch(url: "\($0)")) })
            }
        }
    }

    private func added(_ build: (WorkflowAddition) -> Void) async throws -> AddedJobs {
        let broker = ScriptedWorkflows()
        broker.has(
            ["first", "old"].map {
                WorkflowMemberRecord(key: $0, id: $0, queue: "net", state: .running, needs: [], endedAt: nil)
            }
        )
        let addition = WorkflowAddition(nodes: WorkflowNodes(owner: "job 0"))
        build(addition)
        let id = WorkflowID(queue: "net", token: "4fJ0aQ9bX2cD7eHk")
        return try await AddedJobs(try addition.nodes.describe(at: Date()), by: "job", step: 0, to: id, on: broker)
    }
}

extension Workflow {
    /// A job of some workflow.
    fileprivate static var node: WorkflowNode { WorkflowNode(key: "parse", owner: "another") }
}
