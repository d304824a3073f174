import Errand

/// Which master of a cluster has which slots.
struct SlotMap: Sendable, Equatable {
    /// A master with its replicas.
    struct Shard: Sendable, Equatable {
        let master: HostAndPort
        let replicas: [HostAndPort]
    }

    /// All shards that have slots.
    var shards: [Shard] { zip(known, counts).filter { $0.1 > 0 }.map(\.0) }
    /// Shards that have or had slots. A server is in one of them.
    private var known: [Shard] = []
    /// The number of slots of each shard.
    private var counts: [Int] = []
    /// For each slot the index of its shard; -1 if no server has it.
    private var owners = [Int16](repeating: -1, count: HashSlot.count)

    /// Makes a map without servers.
    init() {}

    /// Makes a map in which one server has all slots.
    init(all server: HostAndPort) { give(0...HashSlot.count - 1, to: Shard(master: server, replicas: [])) }

    /// Parses the reply to `CLUSTER SLOTS`: ranges of slots, each with its master and then its replicas.
    ///
    /// - Parameter asked: The server that replied. It may call itself, or a server whose name it does not know, by an
    ///   empty name.
    /// - Returns: `nil` if it is another reply, or gives a slot to several servers.
    init?(_ reply: RESPValue, from asked: HostAndPort) {
        guard let ranges = reply.elements, ranges.count <= HashSlot.count else { return nil }
        for range in ranges {
            guard let parts = range.elements, parts.count >= 3, let first = parts[0].number, let last = parts[1].number,
                0 <= first, first <= last, last < HashSlot.count,
                let master = Self.place(parts[2], asked), owners[Int(first)...Int(last)].allSatisfy({ $0 < 0 })
            else { return nil }
            let replicas = parts.dropFirst(3).compactMap { Self.place($0, asked) }
            give(Int(first)...Int(last), to: Shard(master: master, replicas: replicas))
        }
    }

    private static func place(_ server: RESPValue, _ asked: HostAndPort) -> HostAndPort? {
        guard let parts = server.elements, parts.count >= 2, let port = parts[1].number else { return nil }
        let host = parts[0].text ?? ""
        return HostAndPort(reported: host.isEmpty || host == "?" ? asked.host : host, port: port)
    }

    private mutating func give(_ slots: ClosedRange<Int>, to shard: Shard) {
        var index = known.firstIndex { $0.master == shard.master }
        if index == nil, known.count < Int(Int16.max) {
            index = known.count
            known = known.map { Shard(master: $0.master, replicas: $0.replicas.filter { $0 != shard.master }) }
            known.append(shard)
            counts.append(0)
        }
        guard let index else { return }
        for slot in slots {
            if owners[slot] >= 0 { counts[Int(owners[slot])] -= 1 }
            owners[slot] = Int16(index)
        }
        counts[index] += slots.count
    }

    /// Returns the master that has a slot; `nil` if none has it.
    func master(of slot: Int) -> HostAndPort? {
        let owner = owners[slot]
        return owner < 0 ? nil : known[Int(owner)].master
    }

    /// All masters that have slots.
    var masters: [HostAndPort] { shards.map(\.master) }

    /// All servers, the masters first.
    var servers: [HostAndPort] { masters + shards.flatMap(\.replicas) }

    /// Notes that a server has a slot, as a redirection says.
    mutating func learn(_ slot: Int, at master: HostAndPort) {
        give(slot...slot, to: Shard(master: master, replicas: []))
    }

    /// Keeps the last known master of each slot that this map gives to no server, which is so while the cluster is down.
    mutating func fill(from old: SlotMap) {
        for slot in 0..<HashSlot.count where owners[slot] < 0 {
            if let master = old.master(of: slot) { learn(slot, at: master) }
        }
    }
}

/// The reply of a server that does not have the slot: `MOVED 3999 127.0.0.1:6381`.
struct Redirection: Sendable, Equatable {
    let slot: Int
    let server: HostAndPort

    /// Parses an error; `nil` if it is another one.
    ///
    /// - Parameter asked: The host that replied, which an empty host stands for.
    init?(_ error: ServerError, from asked: String?) {
        let words = error.text.split(separator: " ")
        guard words.count == 3, words[0] == "MOVED", let slot = Int(words[1]), (0..<HashSlot.count).contains(slot),
            let colon = words[2].lastIndex(of: ":"),
            let port = BrokerURL.number(words[2][words[2].index(after: colon)...])
        else { return nil }
        let host = String(words[2][..<colon])
        guard let host = host.isEmpty || host == "?" ? asked : host,
            let server = HostAndPort(reported: host, port: Int64(port))
        else { return nil }
        self.slot = slot
        self.server = server
    }
}
