import Foundation
import Testing

@testable import Errand

/// Every workflow of `docs/schema/vectors`; another program wrote what its push sends.
@Suite struct WorkflowVectorTests {
    @Test func `the push of every valid workflow sends what is documented`() throws {
        let vectors = try WorkflowVector.load("workflows-valid")
        #expect(vectors.count >= 10)
        for vector in vectors {
            let expected = try #require(vector.plan)
            let plan = try WorkflowDescription(json: vector.text).makePlan(token: "4fJ0aQ9bX2cD7eHk")
            #expect(plan.header.id.queue == expected.queue, "\(vector.why)")
            #expect(plan.header.onSuccess.map(\.text) == expected.onSuccess, "\(vector.why)")
            #expect(plan.header.onFailure.map(\.text) == expected.onFailure, "\(vector.why)")
            #expect(plan.members.map(\.number) == Array(0..<expected.members.count), "\(vector.why)")
            for (member, wanted) in zip(plan.members, expected.members) {
                #expect(member.key == wanted.key, "\(vector.why)")
                #expect(member.job.text == wanted.envelope, "\(vector.why)")
                #expect(member.needs == wanted.needs.map(\.need), "\(vector.why)")
            }
        }
    }

    @Test func `a worker reads the workflow of each member`() throws {
        for vector in try WorkflowVector.load("workflows-valid") {
            let plan = try WorkflowDescription(json: vector.text).makePlan(token: "4fJ0aQ9bX2cD7eHk")
            for member in plan.members {
                let stored = try JobEnvelope.read(stored: member.job.stored(readySince: 1))
                let membership = WorkflowMembership(id: plan.header.id, key: member.key)
                #expect(stored.description.workflow == membership, "\(vector.why)")
            }
        }
    }

    @Test func `every invalid workflow is refused with its reason and place`() throws {
        let vectors = try WorkflowVector.load("workflows-invalid")
        #expect(vectors.count >= 40)
        for vector in vectors {
            let error = #expect(throws: WorkflowError.self, "\(vector.why)") {
                try WorkflowDescription(json: vector.text)
            }
            #expect(error?.code.description == vector.code, "\(vector.why): \(String(describing: error))")
            if let path = vector.path { #expect(error?.path == path, "\(vector.why): \(String(describing: error))") }
            if let offset = error?.offset { #expect((0...vector.text.utf8.count).contains(offset), "\(vector.why)") }
        }
    }
}

/// One entry of a file of workflows.
private struct WorkflowVector: Decodable {
    struct Need: Decodable {
        let need: WorkflowNeed

        init(from decoder: any Decoder) throws {
            var values = try decoder.unkeyedContainer()
            let number = try values.decode(Int.self)
            need = WorkflowNeed(number: number, condition: try values.decode(WorkflowCondition.self))
        }
    }

    struct Member: Decodable {
        let key: String
        let needs: [Need]
        let envelope: String
    }

    struct Plan: Decodable {
        let queue: String
        let members: [Member]
        let onSuccess: String?
        let onFailure: String?

        enum CodingKeys: String, CodingKey {
            case queue, members
            case onSuccess = "on_success"
            case onFailure = "on_failure"
        }
    }

    let why: String
    let text: String
    let plan: Plan?
    let code: String?
    let path: String?

    static func load(_ name: String) throws -> [WorkflowVector] {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let file = root.appending(path: "docs/schema/vectors/\(name).json")
        return try JSONDecoder().decode([WorkflowVector].self, from: Data(contentsOf: file))
    }
}

extension JobEnvelope {
    fileprivate var text: String { String(decoding: bytes, as: UTF8.self) }
}
