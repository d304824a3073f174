import Errand
import Testing

/// Cases of workflows.
extension ConformanceCase {
    static var workflows: [ConformanceCase] {
        workflowOrders + workflowDeaths + workflowChanges + workflowPushes + workflowQueues + workflowEdges
    }

    private static var workflowOrders: [ConformanceCase] {
        [
            ConformanceCase("the jobs of a chain run one after the other") { fixture in
                let flow = try await fixture.pushWorkflow(Node("a"), Node("b", after: "a"), Node("c", after: "b"))
                let session = try await fixture.session()
                #expect(try await fixture.states(flow) == ["a": .ready, "b": .blocked, "c": .blocked])
                for key in ["a", "b", "c"] { try await session.end(.finished, flow, key) }
                #expect(try await fixture.state(flow) == .finished)
                #expect(try await fixture.workflowNews() == ["finished"])
            },
            ConformanceCase("a job runs once, when all that it comes after have finished") { fixture in
                let flow = try await fixture.pushWorkflow(Node("a"), Node("b"), Node("join", after: "a", "b"))
                let session = try await fixture.session()
                let claims = try await session.claim()
                try await session.report(.finished, claims[0])
                #expect(try await session.claim().isEmpty)
                try await session.report(.finished, claims[1])
                try await session.end(.finished, flow, "join")
                #expect(try await session.claim().isEmpty)
            },
            ConformanceCase("the call that ends a job claims what comes after it") { fixture in
                let flow = try await fixture.pushWorkflow(Node("a"), Node("b", after: "a"))
                let session = try await fixture.session()
                let claim = try await session.claimOne()
                let reply = try await session.exchange(
                    reports: [TestSession.outcome(.finished, claim)],
                    wanted: 1
                )
                #expect(reply.claims.map(\.id) == [flow.job("b")])
            },
            ConformanceCase("what comes after a job is left to sessions that wait") { fixture in
                let flow = try await fixture.pushWorkflow(
                    Node("a"),
                    Node("b", after: "a"),
                    Node("c", after: "a"),
                    Node("d", after: "a")
                )
                let (session, other) = (try await fixture.session(), try await fixture.session())
                let claim = try await session.claimOne()
                #expect(try await other.claim().isEmpty)
                let reply = try await session.exchange(
                    reports: [TestSession.outcome(.finished, claim)],
                    wanted: 3,
                    free: 1
                )
                #expect(reply.claims.count == 1)
                #expect(try await other.claim().count == 2)
                #expect(try await fixture.states(flow)["d"] == .running)
            },
            ConformanceCase("a job goes on after any end, and after a failure only by failure") { fixture in
                let flow = try await fixture.pushWorkflow(
                    Node("a"),
                    Node("any", after: "a", when: .anyEnd),
                    Node("failed", after: "a", when: .failure),
                    Node("done", after: "a")
                )
                let session = try await fixture.session()
                #expect(try await fixture.cancel(flow.job("a")) == .cancelled)
                #expect(
                    try await fixture.states(flow)
                        == ["a": .cancelled, "any": .ready, "failed": .ready, "done": .skipped]
                )
                try await session.end(.finished, flow, "any", "failed")
                #expect(try await fixture.state(flow) == .failed)
                #expect(try await fixture.workflowNews() == ["failed"])
            },
            ConformanceCase("what comes after a skipped job is skipped, but for any end") { fixture in
                let flow = try await fixture.pushWorkflow(
                    Node("a"),
                    Node("b", after: "a", when: .failure),
                    Node("c", after: "b"),
                    Node("d", after: "b", when: .failure),
                    Node("e", after: "c", when: .anyEnd)
                )
                let session = try await fixture.session()
                try await session.end(.finished, flow, "a")
                #expect(
                    try await fixture.states(flow)
                        == ["a": .finished, "b": .skipped, "c": .skipped, "d": .skipped, "e": .ready]
                )
                try await session.end(.finished, flow, "e")
                #expect(try await fixture.state(flow) == .finished, "a skipped job is no failure")
            },
            ConformanceCase("an expiry of a job counts from when it comes free") { fixture in
                let flow = try await fixture.pushWorkflow(
                    Node("a"),
                    Node("b", after: "a", expiresIn: .milliseconds(200))
                )
                let session = try await fixture.session()
                let claim = try await session.claimOne()
                try await Task.sleep(for: .milliseconds(250))
                try await session.report(.finished, claim)
                try await session.end(.finished, flow, "b")
            },
        ]
    }

    private static var workflowDeaths: [ConformanceCase] {
        [
            ConformanceCase("a dead job holds up its workflow until it is retried") { fixture in
                let flow = try await fixture.pushWorkflow(
                    callbacks: true,
                    Node("a"),
                    Node("b", after: "a"),
                    Node("any", after: "a", when: .anyEnd)
                )
                let session = try await fixture.session()
                try await session.end(.failed, flow, "a")
                #expect(try await fixture.states(flow) == ["a": .dead, "b": .blocked, "any": .ready])
                #expect(try await fixture.state(flow) == .failed)
                #expect(try await fixture.record(flow.job("a"))?.workflows == [flow.id])
                #expect(try await fixture.record(flow.job("any"))?.workflows == [flow.id])
                #expect(try await session.claimedIDs(1) == [flow.job("any")])
                #expect(try await session.claimedIDs(1) == ["\(flow.id.token)-failure"])
                #expect(try await fixture.broker.retry(flow.id) == .changed(jobs: 1))
                #expect(try await fixture.state(flow) == .running)
                #expect(try await fixture.broker.workflow(flow.id)?.round == 2)
                try await session.end(.finished, flow, "a")
                try await session.end(.finished, flow, "b")
                #expect(try await fixture.state(flow) == .running, "any has not ended")
            },
            ConformanceCase("a dead job that is ignored counts as finished") { fixture in
                let flow = try await fixture.pushWorkflow(
                    onDead: .ignore,
                    Node("a"),
                    Node("b", after: "a"),
                    Node("c", after: "a", when: .failure)
                )
                let session = try await fixture.session()
                try await session.end(.failed, flow, "a")
                #expect(try await fixture.states(flow) == ["a": .dead, "b": .ready, "c": .skipped])
                #expect(try await fixture.record(flow.job("a"))?.workflows == [])
                try await session.end(.finished, flow, "b")
                #expect(try await fixture.state(flow) == .finished)
            },
            ConformanceCase("a dead job cancels the rest if its workflow says so") { fixture in
                let flow = try await fixture.pushWorkflow(
                    onDead: .cancelRest,
                    Node("a"),
                    Node("b", after: "a"),
                    Node("c", after: "b", when: .anyEnd)
                )
                let session = try await fixture.session()
                try await session.end(.failed, flow, "a")
                #expect(try await fixture.states(flow) == ["a": .dead, "b": .cancelled, "c": .cancelled])
                #expect(try await fixture.state(flow) == .failed)
                #expect(try await fixture.workflowNews() == ["failed"])
            },
            ConformanceCase("a dead job stops what does not wait for it, too, if its workflow says so") { fixture in
                let (other, elsewhere) = (try await Fixture(beside: fixture), try await Fixture(beside: fixture))
                let flow = try await fixture.pushWorkflow(
                    onDead: .cancelRest,
                    Node("a"),
                    Node("runs"),
                    Node("ready"),
                    Node("runs-there", on: other),
                    Node("ready-there", on: elsewhere)
                )
                let (session, others) = (try await fixture.session(), try await other.session())
                let claims = try await session.claim(2)
                #expect(claims.map(\.id) == [flow.job("a"), flow.job("runs")])
                #expect(try await others.claim().map(\.id) == [flow.job("runs-there")])
                try await session.report(.failed, claims[0])
                try await fixture.deliver()
                #expect(
                    try await fixture.states(flow) == [
                        "a": .dead, "runs": .running, "ready": .cancelled, "runs-there": .running,
                        "ready-there": .cancelled,
                    ]
                )
                #expect(try await session.beat().stops.map(\.id) == [flow.job("runs")])
                #expect(try await others.beat().stops.map(\.id) == [flow.job("runs-there")])
                #expect(try await fixture.state(flow) == .failed)
            },
            ConformanceCase("a workflow is deleted with its dead jobs") { fixture in
                for policy in DeadMemberPolicy.allCases {
                    let flow = try await fixture.pushWorkflow(onDead: policy, Node("a"), Node("b", after: "a"))
                    let session = try await fixture.session()
                    try await session.end(.failed, flow, "a")
                    let left = policy == .cancelRest ? 0 : 1
                    #expect(try await fixture.broker.delete(flow.id) == .changed(jobs: 1 + left))
                    #expect(try await fixture.record(flow.job("a"))?.state != .dead)
                    #expect(try await fixture.status().dead == 0)
                    #expect(try await fixture.broker.workflow(flow.id) == nil)
                }
            },
            ConformanceCase("a dead job that is deleted skips what comes after it") { fixture in
                let flow = try await fixture.pushWorkflow(Node("a"), Node("b", after: "a"))
                let session = try await fixture.session()
                try await session.end(.failed, flow, "a")
                #expect(try await fixture.delete(flow.job("a")) == .deleted)
                #expect(try await fixture.states(flow) == ["a": .deleted, "b": .skipped])
                #expect(try await fixture.workflowNews() == ["failed"])
            },
        ]
    }

    private static var workflowChanges: [ConformanceCase] {
        [
            ConformanceCase("cancelling a workflow cancels what has not ended") { fixture in
                let flow = try await fixture.pushWorkflow(callbacks: true, Node("a"), Node("b"), Node("c", after: "a"))
                let session = try await fixture.session()
                let claim = try await session.claimOne()
                #expect(try await fixture.broker.cancel(flow.id) == .changed(jobs: 3))
                #expect(try await fixture.state(flow) == .cancelled)
                #expect(try await fixture.workflowNews() == [])
                try await session.report(.cancelled, claim)
                #expect(try await fixture.workflowNews() == ["cancelled"])
                #expect(try await session.claim().isEmpty, "no callback runs")
                #expect(try await fixture.broker.cancel(flow.id) == .nothingToDo)
            },
            ConformanceCase("a job that replaces one of a workflow takes its place") { fixture in
                let flow = try await fixture.pushWorkflow(Node("a", policy: .replace), Node("b", after: "a"))
                #expect(try await fixture.receipt(fixture.job("newer", .replace)).outcome == .replaced)
                let session = try await fixture.session()
                let claim = try await session.claimOne()
                #expect(claim.id == "newer")
                try await session.report(.finished, claim)
                try await session.end(.finished, flow, "b")
                #expect(try await fixture.state(flow) == .finished)
            },
            ConformanceCase("a job that is dropped when it comes free waits for the holder of the name") { fixture in
                try await fixture.push(fixture.job("holder", .drop))
                let flow = try await fixture.pushWorkflow(Node("a", policy: .drop), Node("b", after: "a"))
                _ = try await fixture.broker.promote(on: fixture.queue)
                let session = try await fixture.session()
                let claim = try await session.claimOne()
                #expect(claim.id == "holder")
                try await session.report(.finished, claim)
                try await session.end(.finished, flow, "b")
            },
            ConformanceCase("clearing a queue cancels blocked jobs") { fixture in
                let flow = try await fixture.pushWorkflow(Node("a"), Node("b", after: "a"))
                while try await fixture.broker.clear(fixture.queue) > 0 {}
                #expect(try await fixture.state(flow) == .failed)
                #expect(try await fixture.status().ready == 0)
            },
            ConformanceCase("a workflow with running jobs is not deleted") { fixture in
                let flow = try await fixture.pushWorkflow(Node("a"), Node("b", after: "a"))
                let session = try await fixture.session()
                let claim = try await session.claimOne()
                #expect(try await fixture.broker.delete(flow.id) == .running(jobs: 1))
                try await session.report(.finished, claim)
                #expect(try await fixture.broker.delete(flow.id) == .changed(jobs: 1))
                #expect(try await fixture.broker.workflow(flow.id) == nil)
                #expect(try await session.claim().isEmpty)
            },
        ]
    }

    private static var workflowPushes: [ConformanceCase] {
        [
            ConformanceCase("a workflow that is not sealed does not run, and its calls can be repeated") { fixture in
                let id = fixture.newID()
                let members = try fixture.members([Node("a"), Node("b", after: "a")], of: id)
                let session = try await fixture.session()
                for _ in 1...2 {
                    #expect(try await fixture.broker.begin(try fixture.header(id)) == .begun)
                    #expect(try await fixture.broker.add(members, to: id, by: nil) == [0, 1])
                }
                #expect(try await session.claim().isEmpty)
                #expect(try await fixture.broker.workflow(id) == nil)
                for _ in 1...2 { #expect(try await fixture.broker.seal(id) == .sealed) }
                #expect(try await fixture.broker.begin(try fixture.header(id)) == .sealed)
                #expect(try await session.claimedIDs() == [id.job(0)])
            },
            ConformanceCase("a workflow of a name that is taken is dropped or replaces the other one") { fixture in
                let ids = (0..<3).map { _ in fixture.newID() }
                for (id, policy) in zip(ids, [UniquenessPolicy.drop, .drop, .replace]) {
                    let beginning = try await fixture.broker.begin(try fixture.header(id, policy))
                    if id == ids[1] {
                        #expect(beginning == .dropped(for: "\(ids[0])"))
                        continue
                    }
                    try await fixture.broker.add(fixture.members([Node("a")], of: id), to: id, by: nil)
                    #expect(try await fixture.broker.seal(id) == (id == ids[2] ? .replaced("\(ids[0])") : .sealed))
                }
                #expect(try await fixture.broker.workflow(ids[0])?.state == .cancelled)
                #expect(try await fixture.broker.workflow(ids[2])?.state == .running)
            },
            ConformanceCase("results are kept for the jobs that come after") { fixture in
                let flow = try await fixture.pushWorkflow(Node("a"), Node("b"), Node("c", after: "a"))
                let session = try await fixture.session()
                for claim in try await session.claim() {
                    try await session.report(.finished, claim, result: claim.id == flow.job("a") ? "1" : "2")
                }
                _ = try await session.claimOne()
                func results(_ keys: [String]?) async throws -> [String: [UInt8]] {
                    try await fixture.broker.results(for: flow.job("c"), of: keys, in: flow.id)
                }
                #expect(try await results(nil) == ["a": Array("1".utf8)])
                #expect(try await results(["a", "b"]) == ["a": Array("1".utf8), "b": Array("2".utf8)])
            },
            ConformanceCase("a running job adds others to its workflow once") { fixture in
                let flow = try await fixture.pushWorkflow(Node("a"))
                let session = try await fixture.session()
                let claim = try await session.claimOne()
                let added = WorkflowMember(
                    job: try fixture.job("\(flow.id.token)-x1"),
                    number: 0,
                    key: "added",
                    needs: [WorkflowNeed(number: 0, condition: .success)]
                )
                let own = WorkflowClaim(id: claim.id, queue: fixture.queue, token: claim.token, session: session.id)
                for _ in 1...2 { #expect(try await fixture.broker.add([added], to: flow.id, by: own) == [1]) }
                try await session.report(.finished, claim)
                #expect(try await session.claimedIDs() == ["\(flow.id.token)-x1"])
                await #expect(throws: BrokerError.self, "the claim is over") {
                    try await fixture.broker.add([added], to: flow.id, by: own)
                }
            },
        ]
    }
}
