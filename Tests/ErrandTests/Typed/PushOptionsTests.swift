import Foundation
import Testing

@testable import Errand

@Suite struct PushOptionsTests {
    private struct Note: JobParameters {
        static let jobName = "note"
        static let jobDefaults = JobDefaults(
            queue: "notes",
            priority: 7,
            uniqueness: .replace(by: "to", "missing").readable
        )
        let to: String
        var missing: String?
        let body: String
    }

    private func description(_ options: PushOptions) async throws -> OperationDescription {
        let broker = MemoryBroker()
        let receipt = try await Producer(broker: broker).push(Note(to: "a", body: "b"), options: options)
        let record = try #require(try await broker.inspect([receipt.id], on: receipt.queue).first ?? nil)
        return try JobEnvelope.read(stored: record.body).description
    }

    @Test func `omitted options come from the type`() async throws {
        let plain = try await description(PushOptions())
        #expect(plain.queue == "notes")
        #expect(plain.priority == 7)
        #expect(plain.uniquenessPolicy == .replace)
        #expect(plain.name == #"note {"missing":null,"to":"a"}"#)
        #expect(plain.arguments == ["body": "b", "to": "a"])
        #expect(plain.meta == [:])
    }

    @Test func `given options win`() async throws {
        let said = try await description(
            PushOptions(
                queue: "other",
                uniqueness: .ignore,
                timeout: .seconds(3),
                retries: 4,
                backoff: RetryDelays(base: .seconds(9)),
                priority: 1,
                id: "mine",
                tags: ["tenant x"],
                meta: ["tenant": "x"]
            )
        )
        #expect(said.tags == ["tenant x"])
        #expect(said.queue == "other")
        #expect(said.uniquenessPolicy == .ignore)
        #expect(said.name == nil)
        #expect(said.timeout == .seconds(3))
        #expect(said.retries == 4)
        #expect(said.backoff == RetryDelays(base: .seconds(9)))
        #expect(said.priority == 1)
        #expect(said.id == "mine")
        #expect(said.meta == ["tenant": "x"])
        #expect(try await description(PushOptions(name: "told")).name == "told")
    }

    private struct Tagged: JobParameters {
        static let jobName = "tagged"
        static let jobDefaults = JobDefaults(tags: ["billing", "nightly"])
    }

    @Test func `tags of the type and of the push are merged`() throws {
        let now = Date(timeIntervalSince1970: 0)
        #expect(try Tagged().described(PushOptions(), now: now).tags == ["billing", "nightly"])
        let own = PushOptions(tags: ["customer 17", "nightly"])
        #expect(try Tagged().described(own, now: now).tags == ["billing", "nightly", "customer 17"])
        let six = (0..<6).map { "\($0)" }
        #expect(try Tagged().described(PushOptions(tags: six), now: now).tags.count == 8)
        let error = #expect(throws: DescriptionError.self) {
            try Tagged().described(PushOptions(tags: six + ["6"]), now: now)
        }
        #expect(error?.field == "tags")
    }

    @Test func `a date outside the limits becomes the nearest one inside`() async throws {
        let now = Date(timeIntervalSince1970: 100)
        func due(_ options: PushOptions) async throws -> Int64? {
            let broker = MemoryBroker()
            let producer = Producer(broker: broker) { now }
            let receipt = try await producer.push(Note(to: "a", body: "b"), options: options)
            let record = try #require(try await broker.inspect([receipt.id], on: receipt.queue).first ?? nil)
            return try JobEnvelope.read(stored: record.body).description.notBefore
        }
        #expect(try await due(PushOptions(delayUntil: .distantPast)) == 0)
        #expect(try await due(PushOptions(delayUntil: .distantFuture)) == 9_999_999_999_999)
        #expect(try await due(PushOptions(delayUntil: Date(timeIntervalSince1970: 1.0004))) == 1001)
        #expect(try await due(PushOptions(delay: .seconds(60), delayUntil: Date(timeIntervalSince1970: 2))) == 2000)
        #expect(try await due(PushOptions(delay: .seconds(60))) == 160_000)
        #expect(try await due(PushOptions(delay: .seconds(-60))) == 100_000)
        #expect(try await due(PushOptions()) == nil)
    }

    @Test func `the backoff of a strategy stays within its bounds`() {
        let strategy: ExponentialJitter = .exponentialJitter(maxAttempts: 5, maxBackoff: .seconds(8))
        #expect(strategy.maxRetries == 4)
        for (attempt, usual) in [(1, 1.0), (2, 2), (3, 4), (4, 8), (5, 8), (90, 8)] {
            let waits = (0..<200).map { _ in strategy.calculateBackoff(attempt: attempt) / .seconds(1) }
            #expect(waits.allSatisfy { $0 >= usual * 0.5 && $0 <= usual * 1.5 })
            #expect(Set(waits).count > 100, "they are strewn")
        }
        let odd: ExponentialJitter = .exponentialJitter(maxAttempts: -3, minJitter: .nan, maxJitter: -.infinity)
        #expect(odd.maxRetries == 0)
        #expect(odd.calculateBackoff(attempt: .max) >= .zero)
    }

    @Test func `a delay counts from the broker's time, whatever this machine's clock says`() async throws {
        let broker = MemoryBroker { 500_000 }
        let receipt = try await Producer(broker: broker).push(
            Note(to: "a", body: "later"),
            options: PushOptions(delay: .seconds(60))
        )
        let record = try #require(try await broker.inspect([receipt.id], on: receipt.queue)[0])
        #expect(record.state == .scheduled)
        #expect(try JobEnvelope.read(stored: record.body).description.notBefore == 560_000)
    }
}
