/// A PING at the end of a group of commands, with a unique reply.
///
/// Replies carry no id: the first one belongs to the first command. With an extra or a missing reply, each command
/// would silently get the reply of its neighbour. The sentinel's reply comes after all others; if another reply is in
/// its place, none of the group's replies can be trusted.
struct SentinelPing: Sendable {
    /// The command, in Redis' protocol.
    private(set) var command: [UInt8] = []
    private var answer: [UInt8] = []
    private var number: UInt64

    /// Starts a sequence of marks that differ from those of other connections.
    init() {
        number = .random(in: 0...(.max / 2))
        advance()
    }

    /// Advances to another mark, for the next group.
    mutating func advance() {
        number &+= 1
        var writer = CommandWriter(capacity: 48)
        writer.begin(2)
        writer.add("PING")
        answer = Array(String(number, radix: 36).utf8)
        writer.add(answer)
        command = writer.bytes
    }

    /// Whether a reply is the one to this mark. A server that cannot serve at present returns its error instead.
    func isAnswered(by reply: RESPValue) -> Bool {
        switch reply {
        case .bulk(let bytes): bytes == answer
        case .error(let text): ServerError(text).refusesEverything
        default: false
        }
    }
}
