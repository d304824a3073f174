import Errand
import Foundation
import Testing

@Suite struct JobIDTests {
    @Test func `a million ids are in order and unique`() {
        var previous = ""
        for _ in 0..<1_000_000 {
            let id = JobIDGenerator.next()
            guard previous < id else {
                Issue.record("\(id) after \(previous)")
                return
            }
            previous = id
        }
    }

    @Test func `ids made on eight threads are unique, and in order on each`() async {
        let perThread = 50_000
        let lists = await withTaskGroup(of: [String].self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<perThread).map { _ in JobIDGenerator.next() } }
            }
            return await group.reduce(into: [[String]]()) { $0.append($1) }
        }
        #expect(Set(lists.joined()).count == 8 * perThread)
        for list in lists { #expect(zip(list, list.dropFirst()).allSatisfy { $0 < $1 }) }
    }

    @Test func `an id is 26 characters that begin with the time`() throws {
        let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
        let before = milliseconds()
        let id = JobIDGenerator.next()
        #expect(id.count == 26)
        let time = try id.prefix(10).reduce(Int64(0)) { $0 << 5 | Int64(try #require(alphabet.firstIndex(of: $1))) }
        // Concurrent tests may have used up future milliseconds.
        #expect((before...before + 60_000).contains(time))
        #expect(try OperationDescription("a", id: id).id == id)
    }

    private func milliseconds() -> Int64 {
        Int64(Date().timeIntervalSince1970 * 1000)
    }
}
