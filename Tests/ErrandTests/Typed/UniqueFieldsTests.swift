import Foundation
import Testing

@testable import Errand

/// Fields of uniqueness that a type does not have. Each job's name would have `null` for them, so that all but one would be
/// dropped.
@Suite struct UniqueFieldsTests {
    private struct Letter: JobParameters {
        enum CodingKeys: String, CodingKey { case address = "to", coupon }
        static let jobName = "letter"
        static let jobDefaults = JobDefaults(uniqueness: .drop(by: "adress"))
        let address: String
        var coupon: String?
    }

    /// Its keys may be any text.
    private struct Loose: JobParameters {
        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        static let jobName = "loose"
        let values: [String: String]

        init(_ values: [String: String]) { self.values = values }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            values = try Dictionary(
                uniqueKeysWithValues: container.allKeys.map {
                    ($0.stringValue, try container.decode(String.self, forKey: $0))
                }
            )
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            for (key, value) in values { try container.encode(value, forKey: Key(stringValue: key)) }
        }
    }

    private let producer = Producer(broker: MemoryBroker())

    private func push(_ letter: Letter, _ uniqueness: JobUniqueness?) async throws -> Receipt {
        try await producer.push(letter, options: PushOptions(uniqueness: uniqueness))
    }

    @Test func `a misspelt field is refused at the push, with the fields there are`() async throws {
        let error = await #expect(throws: DescriptionError.self) { try await push(Letter(address: "a"), nil) }
        #expect(error?.message.contains(#"by "adress""#) == true)
        #expect(error?.message.contains("Letter has no such field; the arguments have to") == true)
        // One of several is refused as well: the others alone would make too many jobs the same.
        await #expect(throws: DescriptionError.self) {
            try await push(Letter(address: "a"), .replace(by: "to", "copon"))
        }
    }

    @Test func `the encoded name counts, not the property's`() async throws {
        await #expect(throws: DescriptionError.self) { try await push(Letter(address: "a"), .drop(by: "address")) }
        #expect(try await push(Letter(address: "a"), .drop(by: "to")).outcome == .accepted)
        #expect(try await push(Letter(address: "a"), .drop(by: Letter.CodingKeys.address)).outcome == .dropped)
        #expect(try await push(Letter(address: "b"), .drop(by: Letter.CodingKeys.address)).outcome == .accepted)
    }

    @Test func `a property counts if its coding key has the same name`() async throws {
        #expect(try await push(Letter(address: "a", coupon: "1"), .drop(by: \Letter.coupon)).outcome == .accepted)
        #expect(try await push(Letter(address: "b", coupon: "1"), .drop(by: "coupon")).outcome == .dropped)
        let error = await #expect(throws: DescriptionError.self) {
            try await push(Letter(address: "a"), .drop(by: \Letter.address))
        }
        #expect(error?.localizedDescription.contains(#"by "address""#) == true)
        await #expect(throws: DescriptionError.self) {
            try await push(Letter(address: "a", coupon: "1"), .replace(by: \Letter.coupon?.count))
        }
    }

    @Test func `a name shows its fields only by choice`() async throws {
        let rule = JobUniqueness.drop(by: "to")
        let arguments = try JSONText(encoding: Letter(address: "ada@example.org"))
        let hidden = try rule.name(of: arguments, as: Letter.self, operation: "letter")
        #expect(hidden?.hasPrefix("letter sha256:") == true && hidden?.contains("ada") == false)
        let shown = try rule.readable.name(of: arguments, as: Letter.self, operation: "letter")
        #expect(shown == #"letter {"to":"ada@example.org"}"#)
        let whole = try JobUniqueness.drop.readable.name(of: arguments, as: Letter.self, operation: "letter")
        #expect(whole == #"letter {"to":"ada@example.org"}"#)
    }

    @Test func `an optional field may have no value`() async throws {
        #expect(try await push(Letter(address: "a"), .drop(by: "coupon")).outcome == .accepted)
        #expect(try await push(Letter(address: "b"), .drop(by: "coupon")).outcome == .dropped)
    }

    @Test func `of a type with any keys, one of the fields must be there`() async throws {
        let options = PushOptions(uniqueness: .drop(by: "a", "b"))
        #expect(try await producer.push(Loose(["a": "1"]), options: options).outcome == .accepted)
        await #expect(throws: DescriptionError.self) { try await producer.push(Loose(["c": "1"]), options: options) }
    }

    @Test func `a worker with such a type does not start`() async throws {
        let worker = Worker(broker: MemoryBroker(), configuration: WorkerConfiguration())
        worker.registerJob(parameters: Letter.self) { _, _ in }
        let error = await #expect(throws: BrokerError.self) { try await worker.run() }
        #expect(error?.message.contains(#"operation "letter" cannot be registered"#) == true)
        #expect(error?.message.contains(#"by "adress""#) == true)
    }
}
