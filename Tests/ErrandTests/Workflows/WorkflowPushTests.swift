import Testing

@testable import Errand

/// The calls of a workflow's push, and what is done when replies are lost.
@Suite struct WorkflowPushTests {
    @Test func `a push begins, adds in portions and seals`() async throws {
        let broker = ScriptedWorkflows()
        let receipt = try await push(try plan(jobs: 500), on: broker)
        #expect(broker.kinds == ["begin", "add", "add", "add", "add", "seal"])
        #expect(broker.calls.flatMap(\.members).map(\.number) == Array(0..<500))
        #expect(receipt.outcome == .accepted)
        #expect(receipt.workflow == "net:4fJ0aQ9bX2cD7eHk")
        #expect(receipt.jobs["k7"] == "4fJ0aQ9bX2cD7eHk-7")
    }

    @Test func `a dropped workflow names the other one and adds nothing`() async throws {
        for other in ["net:AAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAA"] {
            let broker = ScriptedWorkflows(.dropped(for: other))
            let receipt = try await push(try plan(), on: broker)
            #expect(receipt == WorkflowReceipt(workflow: "net:AAAAAAAAAAAAAAAA", outcome: .dropped, jobs: [:]))
            #expect(broker.kinds == ["begin"])
        }
    }

    @Test func `a workflow that was sealed before is accepted without further calls`() async throws {
        let broker = ScriptedWorkflows(.sealed)
        #expect(try await push(try plan(), on: broker).outcome == .accepted)
        #expect(broker.kinds == ["begin"])
    }

    @Test func `a replacement is reported`() async throws {
        let broker = ScriptedWorkflows(.replaces("AAAAAAAAAAAAAAAA"))
        let receipt = try await push(try plan(), on: broker)
        #expect(receipt.outcome == .replaced)
        #expect(receipt.replaced == "net:AAAAAAAAAAAAAAAA")
    }

    @Test func `the seal decides if the name was taken meanwhile`() async throws {
        let dropped = try await push(try plan(), on: ScriptedWorkflows(sealing: .dropped(for: "AAAAAAAAAAAAAAAA")))
        #expect(dropped == WorkflowReceipt(workflow: "net:AAAAAAAAAAAAAAAA", outcome: .dropped, jobs: [:]))
        let replaced = try await push(try plan(), on: ScriptedWorkflows(sealing: .replaced("AAAAAAAAAAAAAAAA")))
        #expect(replaced.outcome == .replaced)
        #expect(replaced.replaced == "net:AAAAAAAAAAAAAAAA")
    }

    @Test func `a broker that cannot be reached at the first call is not waited for again`() async throws {
        let broker = ScriptedWorkflows()
        broker.fail("begin", .notReachable)
        await #expect(throws: BrokerError.self) { try await push(try plan(), on: broker) }
        #expect(broker.kinds == ["begin"])
    }

    @Test func `a call whose reply was lost is made again`() async throws {
        let broker = ScriptedWorkflows()
        for kind in ["begin", "add", "seal"] { broker.fail(kind, .outcomeUnknown) }
        #expect(try await push(try plan(), on: broker).outcome == .accepted)
        #expect(broker.kinds == ["begin", "begin", "add", "add", "seal", "seal"])
    }

    @Test func `a push that never reached its seal throws: it does not run`() async throws {
        let broker = ScriptedWorkflows()
        broker.fail("add", .outcomeUnknown, .notReachable, .notReachable)
        let error = await #expect(throws: BrokerError.self) { try await push(try plan(), on: broker) }
        #expect(error?.code == .notReachable)
        #expect(!broker.kinds.contains("seal"))
    }

    @Test func `a seal without any reply is unknown, whatever the last error is`() async throws {
        let broker = ScriptedWorkflows()
        broker.fail("seal", .outcomeUnknown, .notReachable, .notReachable)
        let receipt = try await push(try plan(), on: broker)
        #expect(receipt.outcome == .unknown)
        #expect(receipt.jobs.count == 1)
    }

    @Test func `a seal that was never sent throws`() async throws {
        let broker = ScriptedWorkflows()
        broker.fail("seal", .notReachable, .notReachable, .notReachable)
        await #expect(throws: BrokerError.self) { try await push(try plan(), on: broker) }
    }

    @Test func `a refusal is not repeated`() async throws {
        let broker = ScriptedWorkflows()
        broker.fail("add", .full)
        let error = await #expect(throws: BrokerError.self) { try await push(try plan(), on: broker) }
        #expect(error?.code == .full)
        #expect(broker.kinds == ["begin", "add"])
    }

    // MARK: Plain pushes

    @Test func `a job of a workflow cannot be pushed by itself`() async throws {
        let text = #"{"operation":"a","workflow":{"id":"mail:4fJ0aQ9bX2cD7eHk","key":"parse"}}"#
        let description = try OperationDescription(json: text)
        #expect(description.workflow?.key == "parse")
        let error = #expect(throws: DescriptionError.self) { try description.makeEnvelope() }
        #expect(error?.field == "workflow")
        #expect(throws: Never.self) { try description.withoutID().makeEnvelope() }
    }

    @Test func `the name of a workflow is kept when its description is written and read`() throws {
        let text = #"{"operation":"a","workflow":{"id":"mail:4fJ0aQ9bX2cD7eHk","key":"a.b:c"}}"#
        let description = try OperationDescription(json: text)
        #expect(try OperationDescription(json: description.encoded()) == description)
    }

    @Test func `tokens have 16 letters and digits and differ`() {
        let tokens = Set((0..<1000).map { _ in WorkflowID.makeToken() })
        #expect(tokens.count == 1000)
        #expect(tokens.allSatisfy(WorkflowID.isToken))
    }

    // MARK: Helpers

    private func plan(jobs count: Int = 1) throws -> WorkflowPlan {
        let description = try OperationDescription("step", queue: "net")
        let jobs = (0..<count).map { WorkflowDescription.Job("k\($0)", description) }
        return try WorkflowDescription("test", jobs: jobs).makePlan(token: "4fJ0aQ9bX2cD7eHk")
    }

    private func push(_ plan: WorkflowPlan, on broker: ScriptedWorkflows) async throws -> WorkflowReceipt {
        let pauses = Array(repeating: Duration.milliseconds(1), count: 2)
        return try await WorkflowPushCalls(broker: broker, pauses: pauses).push(plan)
    }
}
