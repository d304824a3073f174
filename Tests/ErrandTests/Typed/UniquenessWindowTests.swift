import Errand
import Testing

/// Windows of typed jobs and of descriptions.
@Suite struct UniquenessWindowTests {
    private struct Sync: JobParameters {
        static let jobName = "sync"
        let account: Int
        var reason = "none"
    }

    private let producer = Producer(broker: MemoryBroker())

    private func push(_ job: Sync, _ uniqueness: JobUniqueness) async throws -> Receipt {
        try await producer.push(job, options: PushOptions(uniqueness: uniqueness))
    }

    @Test func `a typed job is throttled by its fields`() async throws {
        let rule = JobUniqueness.throttle(per: .seconds(60)).by("account")
        let first = try await push(Sync(account: 1), rule)
        let second = try await push(Sync(account: 1, reason: "other"), rule)
        #expect(second.outcome == .dropped && second.id == first.id && second.until == first.until)
        #expect(try await push(Sync(account: 2), rule).outcome == .accepted)
        await #expect(throws: DescriptionError.self) { try await push(Sync(account: 1), rule.by("acount")) }
    }

    @Test func `a typed job is debounced, and the latest of those that wait is kept`() async throws {
        let rule = JobUniqueness.debounce(.seconds(60), atMost: .seconds(30))
        let first = try await push(Sync(account: 1), rule)
        let second = try await push(Sync(account: 1), rule)
        #expect(second.outcome == .replaced && second.holder == first.id && second.until == first.until)
        let waiting = try await push(Sync(account: 2), .keepLatest)
        #expect(try await push(Sync(account: 2), .keepLatest).holder == waiting.id)
    }

    @Test(arguments: [UniquenessPolicy.throttle, .debounce]) func `a policy without its window is refused`(
        policy: UniquenessPolicy
    ) throws {
        let description = try OperationDescription("sync", unique: policy)
        let error = #expect(throws: DescriptionError.self) { try description.makeEnvelope() }
        #expect(error?.field == "window_ms" && error?.message.contains(policy.rawValue) == true)
        // A catalogue may have it.
        #expect(try description.filling(window: .seconds(1)).makeEnvelope().window == 1000)
        #expect(throws: ScheduleError.self) { try Schedule("s", .every(.seconds(10)), pushing: description) }
    }

    @Test func `a debounced job has no time of its own`() throws {
        let description = try OperationDescription(
            "sync",
            unique: .debounce,
            window: .seconds(1),
            notBefore: 1_795_215_724_000
        )
        #expect(throws: DescriptionError.self) { try description.makeEnvelope() }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(31_536_001)]) func `a window has limits`(
        duration: Duration
    ) {
        #expect(throws: DescriptionError.self) {
            try OperationDescription("sync", unique: .throttle, window: duration)
        }
        #expect(throws: DescriptionError.self) {
            try OperationDescription("sync", unique: .debounce, window: .seconds(1), atMost: duration)
        }
    }
}
