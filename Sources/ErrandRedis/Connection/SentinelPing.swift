/// A question at the end of a group of commands whose answer no other question has.
///
/// Replies carry no name: the first one goes to the first command. A reply too many, or one too few, would give
/// each command the answer of its neighbour, and nobody would notice. The mark's answer comes after all others; where
/// something else comes in its place, none of the group's replies can be trusted.
struct SentinelPing: Sendable {
    /// The command, in Redis' protocol.
    private(set) var command: [UInt8] = []
    private var answer: [UInt8] = []
    private var number: UInt64

    /// Makes marks that another connection's are not taken for.
    init() {
        number = .random(in: 0...(.max / 2))
        advance()
    }

    /// Another mark, for the next group.
    mutating func advance() {
        number &+= 1
        var writer = CommandWriter(capacity: 48)
        writer.begin(2)
        writer.add("PING")
        answer = Array(String(number, radix: 36).utf8)
        writer.add(answer)
        command = writer.bytes
    }

    /// Whether this is what a server answers to the mark. One that cannot serve at the moment says so instead.
    func isAnswered(by reply: RESPValue) -> Bool {
        switch reply {
        case .bulk(let bytes): bytes == answer
        case .error(let text): ServerError(text).refusesEverything
        default: false
        }
    }
}
