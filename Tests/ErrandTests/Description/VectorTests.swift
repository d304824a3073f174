import Errand
import Foundation
import Testing

/// Every vector of `docs/schema/vectors`; another program wrote their completed forms.
@Suite struct VectorTests {
    @Test func `every valid vector is completed as documented`() throws {
        let vectors = try Vector.load("valid")
        #expect(vectors.count >= 30)
        for vector in vectors {
            try check(vector, OperationDescription(json: try vector.bytes()))
        }
    }

    private func check(_ vector: Vector, _ description: OperationDescription) throws {
        let settled = try #require(vector.settled)
        let envelope = try description.makeEnvelope { "made-id" }
        #expect(envelope.name == settled.name, "\(vector.why)")
        settled.canonicalArguments.map { #expect(description.arguments.canonical.description == $0, "\(vector.why)") }
        settled.canonicalCount.map { #expect(description.arguments.canonical.bytes.count == $0, "\(vector.why)") }
        settled.envelope.map { #expect(String(decoding: envelope.bytes, as: UTF8.self) == $0, "\(vector.why)") }
        settled.envelopeCount.map { #expect(envelope.bytes.count == $0, "\(vector.why)") }

        #expect(try OperationDescription(json: description.encoded()) == description, "\(vector.why)")
        let stored = try JobEnvelope.read(stored: envelope.stored(readySince: 1_795_215_724_000))
        #expect(stored.readySince == 1_795_215_724_000)
        #expect(stored.description.arguments == description.arguments, "\(vector.why)")
        #expect(try stored.description.makeEnvelope().bytes == envelope.bytes, "\(vector.why)")
    }

    @Test func `every invalid vector is rejected with its reason`() throws {
        let vectors = try Vector.load("invalid")
        #expect(vectors.count >= 60)
        for vector in vectors {
            let bytes = try vector.bytes()
            let error = #expect(throws: DescriptionError.self, "\(vector.why)") {
                try OperationDescription(json: bytes)
            }
            #expect(error?.code.description == vector.code, "\(vector.why): \(String(describing: error))")
            if let field = vector.field {
                #expect(error?.field == field, "\(vector.why): \(String(describing: error))")
            }
            if let offset = error?.offset { #expect((0...bytes.count).contains(offset), "\(vector.why)") }
        }
    }
}

/// One entry of a vector file.
struct Vector: Decodable {
    struct Part: Decodable {
        let text: String
        let times: Int
    }

    struct Settled: Decodable {
        let name: String?
        let canonicalArguments: String?
        let canonicalCount: Int?
        let envelope: String?
        let envelopeCount: Int?

        enum CodingKeys: String, CodingKey {
            case name
            case canonicalArguments = "canonical_arguments"
            case canonicalCount = "canonical_arguments_bytes"
            case envelope
            case envelopeCount = "envelope_bytes"
        }
    }

    let why: String
    let text: String?
    let base64: String?
    let parts: [Part]?
    let settled: Settled?
    let code: String?
    let field: String?

    static func load(_ name: String) throws -> [Vector] {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let file = root.appending(path: "docs/schema/vectors/\(name).json")
        return try JSONDecoder().decode([Vector].self, from: Data(contentsOf: file))
    }

    func bytes() throws -> [UInt8] {
        if let text { return Array(text.utf8) }
        if let base64 { return Array(try #require(Data(base64Encoded: base64))) }
        return try #require(parts).flatMap { part in String(repeating: part.text, count: part.times).utf8 }
    }
}
