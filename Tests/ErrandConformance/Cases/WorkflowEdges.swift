import Errand
import Testing

/// Cases of workflows that random histories have found.
extension ConformanceCase {
    static var workflowEdges: [ConformanceCase] {
        [
            ConformanceCase("what somebody ends before the seal lets nothing run before it") { fixture in
                let id = fixture.newID()
                let members = try fixture.members(
                    [Node("a"), Node("b", after: "a", when: .anyEnd), Node("c", after: "a", when: .anyEnd)],
                    of: id
                )
                #expect(try await fixture.broker.begin(try fixture.header(id)) == .begun)
                try await fixture.broker.add(Array(members.prefix(2)), to: id, by: nil)
                #expect(try await fixture.cancel(id.job(0)) == .cancelled)
                try await fixture.broker.add(Array(members.suffix(1)), to: id, by: nil)
                let session = try await fixture.session()
                #expect(try await session.claim().isEmpty)
                try await fixture.broker.seal(id)
                #expect(try await session.claimedIDs().sorted() == [id.job(1), id.job(2)])
            },
            ConformanceCase("a job that is added to a cancelled workflow behind a dead one is cancelled") { fixture in
                let flow = try await fixture.pushWorkflow(Node("a"), Node("b"))
                let session = try await fixture.session()
                let claims = try await session.claim()
                let (dead, running) = (claims[0], claims[1])
                try await session.report(.failed, dead)
                #expect(try await fixture.broker.cancel(flow.id) == .changed(jobs: 2))
                let added = WorkflowMember(
                    job: try fixture.job("\(flow.id.token)-x1"),
                    number: 0,
                    key: "added",
                    needs: [WorkflowNeed(number: dead.id == flow.job("a") ? 0 : 1, condition: .success)]
                )
                let own = WorkflowClaim(
                    id: running.id,
                    queue: fixture.queue,
                    token: running.token,
                    session: session.id
                )
                try await fixture.broker.add([added], to: flow.id, by: own)
                #expect(try await fixture.record("\(flow.id.token)-x1")?.state == .cancelled)
                try await session.report(.cancelled, running)
                #expect(try await fixture.state(flow) == .cancelled)
                #expect(try await fixture.workflowNews() == ["failed", "cancelled"])
            },
            ConformanceCase("a cancelled job that waits for others says what it is, though it may expire") { fixture in
                let flow = try await fixture.pushWorkflow(Node("a"), Node("b", after: "a", expiresIn: .seconds(60)))
                #expect(try await fixture.cancel(flow.job("b")) == .cancelled)
                let event = try #require(try await fixture.log.drain().last { $0.kind == "cancelled" })
                #expect(event.operation == "work")
            },
            ConformanceCase("a push that is cut after any call runs whole or not at all") { fixture in
                let nodes = [Node("a"), Node("b", after: "a"), Node("c", after: "a"), Node("d", after: "b", "c")]
                let session = try await fixture.session()
                for calls in 0...nodes.count + 2 {
                    let id = fixture.newID()
                    try await fixture.push(nodes, as: id, calls: calls)
                    let first = try await session.claim()
                    #expect(first.map(\.id) == (calls == nodes.count + 2 ? [id.job(0)] : []))
                    for claim in first { try await session.report(.finished, claim) }
                    // Somebody pushes it again, from the first call.
                    try await fixture.push(nodes, as: id, calls: nodes.count + 2)
                    let flow = PushedWorkflow(id: id, keys: nodes.map(\.key))
                    if first.isEmpty { try await session.end(.finished, flow, "a") }
                    try await session.end(.finished, flow, "b", "c")
                    try await session.end(.finished, flow, "d")
                    #expect(try await fixture.state(flow) == .finished)
                }
            },
            ConformanceCase("a call goes on with 30 jobs of workflows, and claims 100") { fixture in
                let many = (0..<250).map { Node("n\($0)", after: "a") }
                let flow = try await fixture.pushWorkflow(of: [Node("a")] + many)
                let session = try await fixture.session()
                try await session.end(.finished, flow, "a")
                for ready in Array(stride(from: 30, to: 250, by: 30)) + [250] {
                    #expect(try await fixture.status().ready == ready)
                    try await fixture.deliver()
                }
                for claimed in [100, 100, 50] { #expect(try await session.claim(300).count == claimed) }
            },
            ConformanceCase("a workflow of which very many jobs run is cancelled whole") { fixture in
                let flow = try await fixture.pushWorkflow(of: (0..<900).map { Node("n\($0)") })
                while try await fixture.status().ready < 900 { try await fixture.deliver() }
                let session = try await fixture.session()
                var running = 0
                while running < 800 { running += try await session.claim(100).count }
                #expect(try await fixture.broker.cancel(flow.id) == .changed(jobs: 900))
                #expect(try await fixture.status().ready == 0)
                #expect(try await fixture.broker.delete(flow.id) == .running(jobs: 800))
            },
            ConformanceCase("a job that is added several times in one call keeps all that it comes after") { fixture in
                let id = fixture.newID()
                let keys = ["a", "b", "c", "d"]
                let jobs = try fixture.members(keys.map { Node($0) }, of: id)
                func after(_ numbers: Int...) -> WorkflowMember {
                    let needs = numbers.map { WorkflowNeed(number: $0, condition: .success) }
                    return WorkflowMember(job: jobs[3].job, number: 3, key: "d", needs: needs)
                }
                _ = try await fixture.broker.begin(try fixture.header(id))
                try await fixture.broker.add(Array(jobs.prefix(3)) + [after(0), after(1, 1)], to: id, by: nil)
                try await fixture.broker.add([after(1), after(2)], to: id, by: nil)
                try await fixture.broker.seal(id)
                let members = try await fixture.broker.members(of: id, from: 0, count: 10)
                #expect(members.map { $0.needs.map(\.key) } == [[], [], [], ["a", "b", "c"]])
                let session = try await fixture.session()
                try await session.end(.finished, PushedWorkflow(id: id, keys: keys), "a", "b", "c")
                try await session.end(.finished, PushedWorkflow(id: id, keys: keys), "d")
            },
            ConformanceCase("a job cannot come after one that the workflow does not have yet") { fixture in
                let id = fixture.newID()
                let jobs = try fixture.members([Node("a"), Node("b")], of: id)
                _ = try await fixture.broker.begin(try fixture.header(id))
                for (number, isAdded) in [(1, false), (2, false), (1_000_000_000, false), (1, true), (2, true)] {
                    let need = WorkflowNeed(number: number, isAdded: isAdded, condition: .success)
                    let wrong = WorkflowMember(job: jobs[1].job, number: 1, key: "b", needs: [need])
                    await #expect(throws: BrokerError.self) {
                        try await fixture.broker.add([jobs[0], wrong], to: id, by: nil)
                    }
                }
                #expect(try await fixture.broker.add(jobs, to: id, by: nil) == [0, 1])
            },
            ConformanceCase("blocked jobs are counted, and are not ready") { fixture in
                try await fixture.setFlow("*", FlowRule(atOnce: 5))
                try await fixture.push(fixture.job("grouped", group: "a"))
                _ = try await fixture.pushWorkflow(Node("a"), Node("b", after: "a"))
                let status = try await fixture.status()
                #expect([status.ready, status.blocked] == [2, 1])
            },
        ]
    }
}
