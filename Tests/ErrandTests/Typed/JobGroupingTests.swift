import Errand
import Testing

/// Groups of typed jobs and of descriptions.
@Suite struct JobGroupingTests {
    private struct Invoice: JobParameters {
        static let jobName = "invoice"
        static let jobDefaults = JobDefaults(group: .fields("tenant", "number"), cost: 3)
        let tenant: String
        let number: Int
    }

    private struct Mistaken: JobParameters {
        static let jobName = "mistaken"
        static let jobDefaults = JobDefaults(group: .field("tenat"))
        let tenant: String
    }

    private let broker = MemoryBroker()

    private func pushed(
        _ job: some JobParameters,
        _ options: PushOptions = PushOptions()
    ) async throws
        -> OperationDescription
    {
        let receipt = try await Producer(broker: broker).push(job, options: options)
        let record = try #require(try await broker.inspect([receipt.id], on: receipt.queue).first ?? nil)
        return try JobEnvelope.read(stored: record.body).description
    }

    @Test func `a type makes the group from its fields, and a push may name another`() async throws {
        let usual = try await pushed(Invoice(tenant: "t.7", number: 12))
        #expect(usual.group == "t.7/12" && usual.cost == 3)
        let other = try await pushed(Invoice(tenant: "t.7", number: 12), PushOptions(group: "vip", cost: 1))
        #expect(other.group == "vip" && other.cost == 1)
        #expect(try await broker.groups(of: "default", named: nil, most: 9).map(\.group) == ["t.7/12", "vip"])
    }

    @Test func `a field that is missing, or no valid group, is named`() async throws {
        let missing = await #expect(throws: DescriptionError.self) { try await pushed(Mistaken(tenant: "a")) }
        #expect(missing?.description.contains("\"tenat\"") == true)
        let invalid = await #expect(throws: DescriptionError.self) {
            try await pushed(Invoice(tenant: "two words", number: 1))
        }
        #expect(invalid?.field == "group")
    }

    @Test(arguments: ["", "/", "a/", "/a", "a//b", "a/b/c", "ä", "a b", String(repeating: "x", count: 65)])
    func `what is no group is refused`(group: String) {
        #expect(throws: DescriptionError.self) { try OperationDescription("a", group: group) }
    }

    @Test func `costs are whole numbers from 1 to a million`() throws {
        for cost in [0, -1, 1_000_001] {
            #expect(throws: DescriptionError.self) { try OperationDescription("a", cost: cost) }
        }
        #expect(try OperationDescription("a", cost: 1_000_000).cost == 1_000_000)
    }
}
