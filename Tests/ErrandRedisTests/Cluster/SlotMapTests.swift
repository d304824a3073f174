import Errand
import Testing

@testable import ErrandRedis

/// Slots and slot maps.
@Suite struct SlotMapTests {
    private let asked = HostAndPort(host: "10.0.0.9", port: 7000)

    /// As `CLUSTER KEYSLOT` has them.
    @Test(arguments: [("foo", 12182), ("{user1000}.following", 3443), ("foo{}{bar}", 8363), ("foo{{bar}}zap", 4015)])
    func keysHaveTheSlotsOfTheSpecification(key: String, slot: Int) { #expect(HashSlot.of(key) == slot) }

    @Test func allKeysOfAQueueHaveItsSlot() {
        #expect(HashSlot.of(queue: "images") == HashSlot.of("errand:{images}"))
        #expect(HashSlot.of(queue: "images") == HashSlot.of("errand:{images}:ready:5"))
    }

    private func server(_ host: RESPValue, _ port: Int64) -> RESPValue {
        .array([host, .integer(port), .bulk(Array("id".utf8)), .array([])])
    }

    private func range(_ first: Int64, _ last: Int64, _ servers: RESPValue...) -> RESPValue {
        .array([.integer(first), .integer(last)] + servers)
    }

    @Test func rangesBelongToTheirMasters() throws {
        let host = RESPValue.bulk(Array("10.0.0.1".utf8))
        let reply = RESPValue.array([
            range(0, 5, server(host, 1), server(host, 2)), range(6, 6, server(.null, 3)),
            range(7, 7, server(.bulk([]), 4)), range(9, 9, server(host, 1)),
        ])
        let map = try #require(SlotMap(reply, from: asked))
        #expect(map.master(of: 0) == HostAndPort(host: "10.0.0.1", port: 1))
        #expect(map.master(of: 9) == HostAndPort(host: "10.0.0.1", port: 1))
        #expect(
            map.master(of: 6) == HostAndPort(host: "10.0.0.9", port: 3),
            "an unknown host is the one that was asked"
        )
        #expect(map.master(of: 7) == HostAndPort(host: "10.0.0.9", port: 4))
        #expect(map.master(of: 8) == nil)
        #expect(map.servers.contains(HostAndPort(host: "10.0.0.1", port: 2)))
    }

    @Test func otherRepliesAreNoMap() {
        let host = RESPValue.bulk(Array("h".utf8))
        let replies: [RESPValue] = [
            .null, .error("ERR This instance has cluster support disabled"), .array([.null]),
            .array([range(5, 4, server(host, 1))]), .array([range(0, 16384, server(host, 1))]),
            .array([range(-1, 3, server(host, 1))]),
            .array([range(0, 3, server(host, 1)), range(3, 5, server(host, 2))]),
            .array([range(0, 1, server(host, 0))]), .array([range(0, 1)]),
            .array([range(0, 1, server(.bulk(Array("a\0b".utf8)), 1))]),
            .array([range(0, 1, server(.bulk(Array("a\r\nb".utf8)), 1))]),
        ]
        for reply in replies { #expect(SlotMap(reply, from: asked) == nil, "\(reply)") }
    }

    @Test func aMapKeepsTheMastersOfSlotsThatNoServerHas() throws {
        var old = SlotMap()
        old.learn(1, at: asked)
        old.learn(2, at: asked)
        var map = SlotMap()
        let other = HostAndPort(host: "other", port: 1)
        map.learn(1, at: other)
        map.fill(from: old)
        #expect(map.master(of: 1) == other)
        #expect(map.master(of: 2) == asked)
    }

    @Test func redirectionsAreRead() {
        func read(_ text: String) -> Redirection? { Redirection(ServerError(text), from: "me") }
        #expect(read("MOVED 3999 127.0.0.1:6381")?.server == HostAndPort(host: "127.0.0.1", port: 6381))
        #expect(read("MOVED 3999 ::1:6381")?.server == HostAndPort(host: "::1", port: 6381))
        #expect(read("MOVED 0 :6381")?.server == HostAndPort(host: "me", port: 6381))
        for text in [
            "MOVED", "MOVED 1", "MOVED 16384 h:1", "MOVED -1 h:1", "MOVED 1 h", "MOVED 1 h:0", "MOVED 1 a\u{1}b:1",
            "ASK 1 h:1",
        ] {
            #expect(read(text) == nil, "\(text)")
        }
    }
}
