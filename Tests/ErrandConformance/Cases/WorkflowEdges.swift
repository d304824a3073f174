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
