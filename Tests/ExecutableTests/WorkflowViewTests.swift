import Errand
import ErrandOperator
import Testing

/// The graph of a workflow as operators see it.
@Suite struct WorkflowViewTests {
    @Test func `jobs are in layers by the longest path to them`() {
        let view = view([
            member("top"), member("left", after: ["top"]), member("far", after: ["left"]),
            member("end", after: ["top", "far"]), member("alone"),
        ])
        #expect(view.jobs.map(\.depth) == [0, 1, 2, 3, 0])
        #expect(view.layers.map(\.member.key) == ["top", "alone", "left", "far", "end"])
    }

    @Test func `needs with higher numbers and corrupt cycles are drawn`() {
        let view = view([member("late", after: ["early"]), member("early")])
        #expect(view.jobs.map(\.depth) == [1, 0])
        #expect(self.view([member("a", after: ["b"]), member("b", after: ["a"])]).layers.count == 2)
    }

    @Test func `receipts have the keys in the order of the file`() {
        let receipt = WorkflowReceipt(workflow: "net:T", outcome: .accepted, jobs: ["a": "T-1", "b": "T-0"])
        let text = String(decoding: receipt.json(keys: ["b", "a"]).bytes, as: UTF8.self)
        #expect(text == #"{"workflow":"net:T","outcome":"accepted","jobs":{"b":"T-0","a":"T-1"}}"#)
    }

    @Test func `a member is written with the members of the contract first`() {
        let text = String(decoding: member("parse", after: ["fetch"]).json.bytes, as: UTF8.self)
        #expect(text.hasPrefix(#"{"key":"parse","id":"id-parse","state":"running","after":["fetch"],"#))
    }

    private func member(_ key: String, after: [String] = []) -> WorkflowMemberRecord {
        WorkflowMemberRecord(
            key: key,
            id: "id-\(key)",
            queue: "net",
            state: .running,
            needs: after.map { WorkflowMemberRecord.Need(key: $0, condition: .success) },
            endedAt: nil
        )
    }

    private func view(_ members: [WorkflowMemberRecord]) -> WorkflowView {
        let record = WorkflowRecord(
            id: WorkflowID(queue: "net", token: "4fJ0aQ9bX2cD7eHk"),
            name: "w",
            state: .running,
            round: 1,
            count: members.count,
            open: members.count,
            dead: 0,
            onDead: .hold,
            pushedAt: 0,
            endedAt: nil
        )
        return WorkflowView(record, members)
    }
}
