import Testing

@testable import Errand

/// The parts that a queue in memory is made of.
@Suite("MemoryBroker's parts")
struct MemoryStateTests {
    @Test("a line keeps its order whatever leaves it and comes back")
    func line() {
        var line = ReadyList()
        for id in ["a", "b", "c", "d"] { line.append(id) }
        line.remove("b")
        line.prepend("x")
        line.replace("c", with: "y")
        #expect(line.ids == ["x", "a", "y", "d"])
        #expect(line.count == 4)
        #expect(line.popFirst() == "x")
        line.remove("a")
        #expect(line.first == "y")
        line.remove("never")
        line.remove("d")
        line.append("z")
        #expect(line.ids == ["y", "z"])
        #expect([line.popFirst(), line.popFirst(), line.popFirst()] == ["y", "z", nil])
        line.prepend("again")
        #expect(line.ids == ["again"])
    }

    @Test("ids come in the order of their times, also after changes")
    func timedIDs() {
        var ids = TimedIDs()
        for number in 0..<500 { ids.insert("j\(number)", at: Int64(number * 7919 % 503)) }
        for number in stride(from: 0, to: 500, by: 2) { ids.remove("j\(number)") }
        ids.insert("j1", at: -5)
        var seen: [Int64] = []
        let sorted = ids.sorted
        var popped: [String] = []
        while let first = ids.first() {
            seen.append(first.time)
            popped.append(first.id)
            ids.remove(first.id)
        }
        #expect(popped.first == "j1")
        #expect(seen.count == 250)
        #expect(seen == seen.sorted())
        #expect(popped == sorted)
    }

    @Test("ended ids are forgotten generation by generation")
    func endedIDs() {
        var ended = EndedIDs()
        ended.remember("a", .finished)
        ended.settle(now: 0, window: 100)
        ended.remember("b", .cancelled)
        ended.settle(now: 100, window: 100)
        #expect(ended.ending(of: "a", now: 199) == .finished)
        #expect(ended.ending(of: "a", now: 200) == nil)
        #expect(ended.ending(of: "b", now: 299) == .cancelled)
        ended.remember("c", .replaced)
        ended.settle(now: 200, window: 100)
        ended.remember("d", .deleted)
        ended.settle(now: 300, window: 100)
        #expect(ended.ending(of: "b", now: 300) == nil)
        #expect(ended.ending(of: "c", now: 300) == .replaced)
    }

    @Test("ended ids are kept, and what has expired takes nobody's place, also after the clock was put back")
    func endedIDsAndAClockPutBack() {
        var ended = EndedIDs()
        ended.remember("a", .finished)
        ended.settle(now: 1000, window: 100)
        ended.remember("b", .cancelled)
        ended.settle(now: 1100, window: 100)
        ended.remember("c", .replaced)
        ended.settle(now: 950, window: 100)
        for id in ["a", "b", "c"] { #expect(ended.ending(of: id, now: 950) != nil, "\(id) is forgotten too soon") }
        ended.remember("d", .deleted)
        ended.settle(now: 1160, window: 100)
        #expect(ended.ending(of: "a", now: 1199) == .finished)
        #expect(ended.ending(of: "b", now: 1160) == nil)
        #expect(ended.ending(of: "a", now: 1200) == nil)
    }

    @Test("the history holds no more than its limits")
    func history() {
        var history = MemoryHistory()
        for number in 0..<(MemoryHistory.mostRecords + 10) {
            let record = MemoryHistory.Record(at: Int64(number), events: [[1]], result: [2], ending: .finished)
            history.keep(record, of: "j\(number)")
            history.trim(before: record.at - 1_000_000)
        }
        #expect(history["j9"] == nil)
        #expect(history["j10"] != nil)
        #expect(history.newestFirst.count == MemoryHistory.mostRecords)
        let large = [UInt8](repeating: 0, count: MemoryHistory.mostBytes / 2)
        for id in ["x", "y", "z"] {
            history.keep(.init(at: 20_000, events: [[]], result: large, ending: .finished), of: id)
        }
        history.trim(before: 20_000 - 1_000_000)
        #expect(history.newestFirst == ["z"])
        history.keep(.init(at: 3_000_000, events: [[]], result: [], ending: .finished), of: "late")
        history.trim(before: 2_000_000)
        #expect(history.newestFirst == ["late"])
    }

    @Test("an event that is too long loses its names and its error, not its place in the line")
    func longEvent() throws {
        var queue = MemoryQueue(name: "q")
        let envelope = try OperationDescription("work", id: "a").makeEnvelope()
        _ = try queue.push([envelope])
        let job = try #require(queue.jobs["a"])
        queue.publish(.failed, of: job, .init(attempt: 1, error: String(repeating: "x", count: 40_000)))
        let message = try #require(queue.effects.messages.first)
        #expect(message.count < 1000)
        #expect(String(decoding: message, as: UTF8.self).contains(#""operation":null,"name":null"#))
        #expect(String(decoding: message, as: UTF8.self).contains(#""error":"too long for an event""#))
    }

    @Test("the audit sees what is not where it should be")
    func audit() throws {
        var queue = MemoryQueue(name: "q")
        _ = try queue.push([
            try OperationDescription("work", name: "n", unique: .drop, id: "a").makeEnvelope(),
            try OperationDescription("work", id: "b").makeEnvelope(),
        ])
        #expect(queue.findings == [])
        queue.readyLists[.ready(5)]?.remove("a")
        queue.jobs["b"] = nil
        #expect(queue.findings.map(\.kind) == ["body_without_position", "position_without_body"])
        queue.jobs["a"] = nil
        #expect(queue.findings.map(\.kind) == ["position_without_body", "lock_without_holder"])
    }

    @Test func deletionsOfSchedulesAreForgottenWhenManyOthersHappenedSince() {
        var deleted = DeletedSchedules()
        func fill(_ count: Int) { for number in 0..<count { deleted.remember("s\(number)", revision: 0) } }
        deleted.remember("early", revision: 1)
        deleted.remember("asked", revision: 2)
        fill(DeletedSchedules.mostInGeneration - 2)
        deleted.remind(of: "asked")
        deleted.remind(of: "never there")
        #expect(deleted.revision(of: "early") == 1)
        fill(DeletedSchedules.mostInGeneration - 1)
        #expect(deleted.revision(of: "early") == nil)
        #expect(deleted.revision(of: "asked") == 2)
        #expect(deleted.revision(of: "never there") == nil)
        deleted.forget("asked")
        #expect(deleted.revision(of: "asked") == nil)
    }
}
