import Errand
import Testing

/// Cases of workflows whose jobs are in several queues.
extension ConformanceCase {
    static var workflowQueues: [ConformanceCase] { workflowQueueOrders + workflowQueueChanges }

    private static var workflowQueueOrders: [ConformanceCase] {
        [
            ConformanceCase("a job of a workflow runs in its queue, and what comes after it goes on") { fixture in
                let other = try await Fixture(beside: fixture)
                let flow = try await fixture.pushWorkflow(
                    Node("a"),
                    Node("b", after: "a", on: other),
                    Node("c", after: "b"),
                    Node("d", after: "b", on: other)
                )
                let (session, others) = (try await fixture.session(), try await other.session())
                try await session.end(.finished, flow, "a")
                try await fixture.deliver()
                #expect(try await session.claim().isEmpty)
                #expect(try await fixture.states(flow)["b"] == .ready)
                try await others.end(.finished, flow, "b")
                try await other.deliver()
                try await session.end(.finished, flow, "c")
                try await others.end(.finished, flow, "d")
                try await other.deliver()
                #expect(try await fixture.state(flow) == .finished)
                #expect(try await fixture.workflowNews() == ["finished"])
            },
            ConformanceCase("the seal sends the first jobs to their queues") { fixture in
                let other = try await Fixture(beside: fixture)
                let flow = try await fixture.pushWorkflow(Node("a", on: other), Node("b", on: other))
                try await other.session().end(.finished, flow, "a", "b")
                try await other.deliver()
                #expect(try await fixture.state(flow) == .finished)
            },
            ConformanceCase("results are read by jobs of other queues") { fixture in
                let other = try await Fixture(beside: fixture)
                let flow = try await fixture.pushWorkflow(Node("a", on: other), Node("b", after: "a", on: other))
                let session = try await other.session()
                try await session.report(.finished, try await session.claimOne(), result: "1")
                try await other.deliver()
                #expect(try await session.claimOne().id == flow.job("b"))
                #expect(
                    try await fixture.broker.results(for: flow.job("b"), of: nil, in: flow.id)
                        == ["a": Array("1".utf8)]
                )
            },
            ConformanceCase("the job for a workflow's end runs in its queue") { fixture in
                let other = try await Fixture(beside: fixture)
                let flow = try await fixture.pushWorkflow(callbacksOn: other, Node("a"))
                try await fixture.session().end(.finished, flow, "a")
                try await fixture.deliver()
                let claim = try await other.session().claimOne()
                #expect(claim.id == "\(flow.id.token)-success")
            },
            ConformanceCase("a job in another queue adds jobs to its workflow") { fixture in
                let other = try await Fixture(beside: fixture)
                let flow = try await fixture.pushWorkflow(Node("a", on: other))
                let session = try await other.session()
                let claim = try await session.claimOne()
                let added = WorkflowMember(
                    job: try other.job("\(flow.id.token)-x1"),
                    number: 0,
                    key: "added",
                    needs: [WorkflowNeed(number: 0, condition: .success)]
                )
                let own = WorkflowClaim(id: claim.id, queue: other.queue, token: claim.token, session: session.id)
                for _ in 1...2 { #expect(try await fixture.broker.add([added], to: flow.id, by: own) == [1]) }
                try await session.report(.finished, claim)
                try await other.deliver()
                #expect(try await session.claimedIDs() == ["\(flow.id.token)-x1"])
                await #expect(throws: BrokerError.self, "the job has ended") {
                    try await fixture.broker.add([added], to: flow.id, by: own)
                }
            },
        ]
    }

    private static var workflowQueueChanges: [ConformanceCase] {
        [
            ConformanceCase("a dead job in another queue holds up its workflow until it is retried") { fixture in
                let other = try await Fixture(beside: fixture)
                let flow = try await fixture.pushWorkflow(Node("a", on: other), Node("b", after: "a"))
                let (session, others) = (try await fixture.session(), try await other.session())
                try await others.end(.failed, flow, "a")
                try await other.deliver()
                #expect(try await fixture.states(flow) == ["a": .dead, "b": .blocked])
                #expect(try await fixture.state(flow) == .failed)
                #expect(try await other.record(flow.job("a"))?.workflows == [flow.id])
                #expect(try await fixture.broker.retry(flow.id) == .changed(jobs: 1))
                #expect(try await fixture.state(flow) == .running)
                #expect(try await fixture.broker.workflow(flow.id)?.round == 2)
                try await others.end(.finished, flow, "a")
                try await other.deliver()
                try await session.end(.finished, flow, "b")
                #expect(try await fixture.state(flow) == .finished)
            },
            ConformanceCase("a dead job in another queue cancels the rest if its workflow says so") { fixture in
                let other = try await Fixture(beside: fixture)
                let flow = try await fixture.pushWorkflow(
                    onDead: .cancelRest,
                    Node("a", on: other),
                    Node("b", after: "a")
                )
                try await other.session().end(.failed, flow, "a")
                try await other.deliver()
                #expect(try await fixture.states(flow) == ["a": .dead, "b": .cancelled])
                #expect(try await fixture.state(flow) == .failed)
            },
            ConformanceCase("a queue is known as soon as a workflow has a job for it") { fixture in
                let other = Fixture(besideWithoutQueue: fixture)
                _ = try await fixture.pushWorkflow(Node("a"), Node("b", after: "a", on: other))
                let session = try await fixture.session()
                try await session.report(.finished, try await session.claimOne())
                try await fixture.deliver()
                #expect(try await fixture.broker.queues().contains(other.queue))
            },
            ConformanceCase("cancelling a workflow cancels its jobs in other queues") { fixture in
                let other = try await Fixture(beside: fixture)
                let flow = try await fixture.pushWorkflow(
                    Node("a", on: other),
                    Node("b", after: "a", on: other),
                    Node("c")
                )
                #expect(try await fixture.broker.cancel(flow.id) == .changed(jobs: 3))
                #expect(try await fixture.state(flow) == .cancelled)
                #expect(try await other.session().claim().isEmpty)
            },
            ConformanceCase("a job that is dropped in another queue waits for the holder of the name") { fixture in
                let other = try await Fixture(beside: fixture)
                try await other.push(other.job("holder", .drop))
                let flow = try await fixture.pushWorkflow(
                    Node("a", policy: .drop, on: other),
                    Node("b", after: "a")
                )
                let others = try await other.session()
                let claim = try await others.claimOne()
                #expect(claim.id == "holder")
                #expect(try await others.claim().isEmpty)
                try await others.report(.finished, claim)
                try await other.deliver()
                try await fixture.session().end(.finished, flow, "b")
            },
            ConformanceCase("a queue without workers tells others of jobs that are cancelled or deleted") { fixture in
                let other = try await Fixture(beside: fixture)
                let flow = try await fixture.pushWorkflow(
                    Node("a", on: other),
                    Node("b", after: "a", when: .anyEnd),
                    Node("c", on: other),
                    Node("d", after: "c", when: .anyEnd),
                    Node("e", on: other),
                    Node("f", after: "e", when: .anyEnd)
                )
                _ = try await fixture.broker.cancel([flow.job("a")], on: other.queue)
                #expect(try await fixture.states(flow)["b"] == .ready)
                _ = try await fixture.broker.delete([flow.job("c")], on: other.queue)
                #expect(try await fixture.states(flow)["d"] == .ready)
                _ = try await fixture.broker.clear(other.queue)
                #expect(try await fixture.states(flow)["f"] == .ready)
            },
            ConformanceCase("a queue that is deleted tells others that their jobs there are deleted") { fixture in
                let other = try await Fixture(beside: fixture)
                let flow = try await fixture.pushWorkflow(
                    Node("a", on: other),
                    Node("b", after: "a", when: .anyEnd),
                    Node("c", on: other),
                    Node("d", after: "c")
                )
                let session = try await other.session()
                #expect(try await session.claimOne().id == flow.job("a"))
                #expect(
                    try await fixture.broker.deleteQueue(other.queue, force: true) == .deleted(jobs: 2)
                )
                let states = try await fixture.states(flow)
                #expect(states == ["a": .deleted, "b": .ready, "c": .deleted, "d": .skipped])
                try await fixture.session().end(.finished, flow, "b")
                #expect(try await fixture.state(flow) == .failed)
            },
            ConformanceCase("a job that replaces one of a workflow in another queue takes its place") { fixture in
                let other = try await Fixture(beside: fixture)
                let flow = try await fixture.pushWorkflow(
                    Node("a", policy: .replace, on: other),
                    Node("b", after: "a")
                )
                #expect(try await other.receipt(other.job("newer", .replace)).outcome == .replaced)
                let others = try await other.session()
                let claim = try await others.claimOne()
                #expect(claim.id == "newer")
                try await others.report(.finished, claim)
                try await other.deliver()
                #expect(try await fixture.states(flow) == ["a": .finished, "b": .ready])
            },
        ]
    }
}
