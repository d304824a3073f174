import Testing

@testable import Errand

/// The limits and the order of a workflow's jobs, and their division into calls.
@Suite struct WorkflowGraphTests {
    @Test func `needs have lower numbers, and the other jobs keep their order`() throws {
        let jobs = try [job("c", after: "a"), job("b"), job("a"), job("d", after: "c", "b")]
        #expect(try WorkflowGraph(jobs).order.map { jobs[$0].key } == ["a", "c", "b", "d"])
    }

    @Test func `a chain of 100,000 jobs written backwards is put in order`() throws {
        let count = 100_000
        let description = try OperationDescription("step")
        let jobs = (0..<count).map { index in
            WorkflowDescription.Job("k\(index)", description, after: index + 1 < count ? ["k\(index + 1)"] : [])
        }
        let graph = try WorkflowGraph(jobs)
        #expect(graph.order.first == count - 1)
        #expect(graph.order.last == 0)
    }

    @Test func `100,001 jobs are refused`() throws {
        let description = try OperationDescription("step")
        let jobs = (0...100_000).map { WorkflowDescription.Job("k\($0)", description) }
        let error = #expect(throws: WorkflowError.self) { try WorkflowGraph(jobs) }
        #expect(error?.code == .tooLarge)
        #expect(error?.path == "jobs")
    }

    @Test func `the 1,001st job after one is refused with its place`() throws {
        let dependants = try (0...1000).map { try job("k\($0)", after: "first") }
        #expect(throws: Never.self) { try WorkflowGraph([try job("first")] + dependants.dropLast()) }
        let error = #expect(throws: WorkflowError.self) { try WorkflowGraph([try job("first")] + dependants) }
        #expect(error?.code == .tooLarge)
        #expect(error?.path == "jobs.k1000.after[0]")
    }

    @Test func `a cycle is named`() throws {
        let jobs = try [job("a", after: "c"), job("b", after: "a"), job("c", after: "b")]
        let error = #expect(throws: WorkflowError.self) { try WorkflowGraph(jobs) }
        #expect(error?.path == "jobs.b.after[0]")
        #expect(error?.message.contains("a after c after b after a") == true)
    }

    @Test func `jobs that a workflow has need not be among the added ones`() throws {
        let jobs = try [job("b", after: "old", "c"), job("c")]
        let graph = try WorkflowGraph(jobs, given: ["old"])
        #expect(graph.needs == [[1], []])
        #expect(graph.order == [1, 0])
    }

    // MARK: Portions

    @Test(arguments: [(0, [1]), (148, [149]), (149, [150]), (150, [150, 2]), (500, [150, 150, 150, 54])])
    func `a job with many needs is in several calls`(needs: Int, sizes: [Int]) throws {
        let portions = Array(WorkflowPortions([try member(5, needs: needs)]))
        #expect(portions.map(\.size) == sizes)
        #expect(portions.allSatisfy { $0.map(\.number) == [5] })
        #expect(portions.flatMap { $0 }.flatMap(\.needs).map(\.number) == Array(0..<needs))
    }

    @Test func `calls are full, and a job that fits no more begins the next one`() throws {
        let members = try (0..<500).map { try member($0, needs: $0 == 149 ? 1 : 0) }
        let portions = Array(WorkflowPortions(members))
        #expect(portions.map(\.count) == [149, 149, 150, 52])
        #expect(portions.flatMap { $0 } == members)
    }

    @Test func `the rest of a divided job shares its call`() throws {
        let members = try [member(0, needs: 0), member(1, needs: 200), member(2, needs: 3)]
        #expect(Array(WorkflowPortions(members)).map { $0.map(\.number) } == [[0], [1], [1, 2]])
    }

    @Test func `large jobs fill a call`() throws {
        let text = try JSONText(encoding: String(repeating: "x", count: 600_000))
        let large = try OperationDescription("a", arguments: text).makeEnvelope()
        let members = (0..<5).map { WorkflowMember(job: large, number: $0, key: "k\($0)", needs: []) }
        #expect(Array(WorkflowPortions(members)).map(\.count) == [2, 2, 1])
    }

    private func job(_ key: String, after: String...) throws -> WorkflowDescription.Job {
        WorkflowDescription.Job(key, try OperationDescription("step"), after: after)
    }

    private func member(_ number: Int, needs: Int) throws -> WorkflowMember {
        WorkflowMember(
            job: try OperationDescription("step", id: "j\(number)").makeEnvelope(),
            number: number,
            key: "k\(number)",
            needs: (0..<needs).map { WorkflowNeed(number: $0, condition: .success) }
        )
    }
}

extension [WorkflowMember] {
    /// The jobs and needs.
    fileprivate var size: Int { reduce(count) { $0 + $1.needs.count } }
}
